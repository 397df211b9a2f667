import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  ConflictError,
  ForbiddenError,
  GenerationClient,
  NotFoundError,
  PaymentRequiredError,
  RequestFailedError,
  ValidationError,
  verifyWebhook,
} from '../../packages/client/src/index.ts';
import { saveTo } from '../../packages/client/src/node.ts';
import { WebhookReceiver } from '../unit/servers/webhook-receiver.ts';
import { eventually, newCaller, sharedService, unique } from './support/client.ts';

const folder = mkdtempSync(join(tmpdir(), 'client-contract-'));
let client: GenerationClient;
let caller: Awaited<ReturnType<typeof newCaller>>;
beforeAll(async () => {
  caller = await newCaller(await sharedService());
  client = new GenerationClient({ baseUrl: caller.service.baseUrl, apiKey: caller.key });
});
afterAll(() => rmSync(folder, { recursive: true }));

const EMAIL = 'client@example.com';
const anImage = (more: object = {}) => ({
  model: 'xZI1.0Pro',
  prompt: unique(),
  endUserEmail: EMAIL,
  size: '512x512',
  ...more,
});

test('An image is made, waited for, saved and found in the lists', async () => {
  const request = await client.createImage(anImage());
  const statuses: string[] = [];
  const onStatus = ({ status }: { status: string }) => statuses.push(status);
  const { images, cost } = await client.waitForSuccess(request, { intervalSeconds: 0.3, onStatus });
  const [image] = images;
  if (!image) throw new Error('There is no image.');
  await saveTo(join(folder, 'image.png'), await client.download(image));

  expect(statSync(join(folder, 'image.png')).size).toBeGreaterThan(100);
  expect(statuses.at(-1)).toBe('succeeded');
  const first = async <T>(list: { toArray(options: { limit: number }): Promise<T[]> }) =>
    (await list.toArray({ limit: 1 }))[0];
  expect(await first(client.listImages({ endUserEmail: EMAIL }))).toMatchObject({
    requestId: request.requestId,
  });
  expect(await first(client.listBalanceHistory())).toMatchObject({
    reference: request.requestId,
    amount: cost,
  });
  expect(await first(client.listEndUsers({ email: 'client@' }))).toMatchObject({ email: EMAIL });
});

test('run makes an image and a video, and the lists find them by model, with what was asked', async () => {
  const said = { prompt: unique('[delay=0]'), endUserEmail: EMAIL };
  const options = { intervalSeconds: 0.3 };
  const { images, requestId } = await client.run({ ...said, model: 'xZI1.0Pro', size: '512x640' }, options);
  const film = { model: 'xW3.0s', resolution: '480p', durationSec: 2 } as const;
  const { videos, requestId: videoId } = await client.run({ ...said, ...film }, options);

  expect([images.length, videos.length]).toEqual([1, 1]);
  const list = { include: 'input', endUserEmail: EMAIL } as const;
  expect((await client.listImages({ ...list, model: 'xZI1.0Pro' })).items).toContainEqual(
    expect.objectContaining({ requestId, input: expect.objectContaining({ size: '512x640', n: 1 }) }),
  );
  expect(await client.listVideos({ ...list, model: 'xW3.0s' })).toMatchObject({
    items: [{ requestId: videoId, input: { resolution: '480p', durationSec: 2 } }],
    hasMore: false,
  });
  expect(await client.getVideo(videoId, { include: 'input' })).toMatchObject({ input: { durationSec: 2 } });
});

test('A creation sent twice with its key is one request', async () => {
  const body = anImage({ prompt: unique('[fail=content_policy]') });
  const before = (await client.getBalance()).xTokens;
  const one = await client.createImage(body, { idempotencyKey: 'client-1' });
  const two = await client.createImage(body, { idempotencyKey: 'client-1' });

  expect(two).toEqual(one);
  await expect(client.waitForSuccess(one, { intervalSeconds: 0.3 })).rejects.toBeInstanceOf(
    RequestFailedError,
  );
  expect((await client.getBalance()).xTokens).toBe(before);
  await expect(client.createImage(anImage(), { idempotencyKey: 'client-1' })).rejects.toBeInstanceOf(
    ConflictError,
  );
});

test('A video that fails is told, by a webhook too, which the client verifies', async () => {
  const receiver = await new WebhookReceiver().start();
  try {
    const [model] = (await client.listModels()).filter(({ id }) => id === 'xW3.0s');
    const request = await client.createVideo({
      ...{ model: model?.id ?? '', prompt: unique('[delay=0][fail=content_policy]'), endUserEmail: EMAIL },
      ...{ durationSec: 2, resolution: '480p', webhookUrl: receiver.url },
    });
    const record = await client.waitFor(request, { intervalSeconds: 0.3 });
    const webhook = await eventually(
      async () => receiver.received[0],
      (received) => received !== undefined,
    );
    if (!webhook) throw new Error('Nothing was received.');
    const { id, event } = await verifyWebhook(webhook.body, webhook.headers, caller.webhookSecret);

    expect(record).toMatchObject({ status: 'failed', error: { code: 'content_policy' } });
    expect(id).toBe(`msg_${request.requestId}`);
    expect(event).toMatchObject({ type: 'video.failed', data: record });
    await expect(verifyWebhook(webhook.body, webhook.headers, 'whsec_AAAA')).rejects.toThrow(/No signature/);
  } finally {
    await receiver.close();
  }
});

// The type of each refusal is tested in packages/client/test/refusals.test.ts.
test('A refusal has its type: for fields, balance and end-user', async () => {
  const poor = await newCaller(caller.service, 0);
  const poorClient = new GenerationClient({ baseUrl: caller.service.baseUrl, apiKey: poor.key });
  const blocked = anImage({ endUserEmail: 'blocked@example.com', prompt: unique('[fail=content_policy]') });
  await client.createImage(blocked);
  await client.blockEndUser('blocked@example.com');

  const wrong = client.createImage(anImage({ n: 2 }));
  await expect(wrong).rejects.toBeInstanceOf(ValidationError);
  await expect(wrong).rejects.toMatchObject({ fields: { n: expect.any(String) } });
  await expect(poorClient.createImage(anImage())).rejects.toBeInstanceOf(PaymentRequiredError);
  await expect(client.createImage(blocked)).rejects.toBeInstanceOf(ForbiddenError);
});

test('Requests and end-users are deleted', async () => {
  const endUserEmail = 'gone@example.com';
  const [one = '', two = ''] = await Promise.all(
    [1, 2, 3].map(async () => {
      const refused = anImage({ endUserEmail, prompt: unique('[fail=content_policy]') });
      const request = await client.createImage(refused);
      return (await client.waitFor(request, { intervalSeconds: 0.3 })).requestId;
    }),
  );

  expect(await client.deleteRequest(one)).toMatchObject({ deleted: true });
  expect(await client.deleteRequests([two, one])).toMatchObject({
    ...{ requested: 2, deleted: 1, notFound: [one] },
  });
  expect(await client.deleteEndUser(endUserEmail)).toMatchObject({ removedRequests: 1 });
  await expect(client.unblockEndUser(endUserEmail)).rejects.toBeInstanceOf(NotFoundError);
});
