import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { VERSION } from '../../lib/release.ts';
import { answering, type ReceivedWebhook, WebhookReceiver } from '../unit/servers/webhook-receiver.ts';
import {
  type AnyRecord,
  aGeneration,
  type Caller,
  eventually,
  newCaller,
  sharedService,
  unique,
} from './support/client.ts';
import { fetchFile } from './support/files.ts';
import { type LocalService, ops } from './support/local-service.ts';
import { executionsNamed } from './support/stopping.ts';
import { deliveryEnded, shownAttempts, verified, type WebhookEvent } from './support/webhooks.ts';

const ATTEMPTS = 3;

let service: LocalService;
let caller: Caller;
let secret: string;
let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = await new WebhookReceiver().start();
  receiver.respond = (webhook, response) => {
    const earlier = receiver.sentTo(webhook.path).length - 1;
    (ANSWERS[webhook.path] ?? answering(204))({ ...webhook, earlier }, response);
  };
  service = await sharedService();
  const account = await newCaller(service, 1000);
  caller = account;
  secret = account.webhookSecret;
  await Promise.all(Object.entries(REQUESTS).map(([name, createFor]) => createFor(name)));
});
afterAll(() => receiver?.close());

type Answer = (
  webhook: ReceivedWebhook & { earlier: number },
  response: Parameters<WebhookReceiver['respond']>[1],
) => void;
/** How the receiver answers deliveries to a path; `earlier` counts those before. */
const ANSWERS: Record<string, Answer> = {
  '/busy-once': (webhook, response) => answering(webhook.earlier === 0 ? 503 : 200)(webhook, response),
  '/gone': answering(410),
  '/moved': (webhook, response) =>
    answering(307, { location: `${receiver.url}/elsewhere` })(webhook, response),
  '/broken': (webhook, response) => answering(webhook.earlier < ATTEMPTS ? 500 : 200)(webhook, response),
  '/endless': (_webhook, response) => {
    response.writeHead(200);
    const push = (): void => {
      while (!response.destroyed && response.write('more and more '.repeat(4_096)));
    };
    response.on('drain', push);
    push();
  },
};

const requestIds = new Map<string, string>();
const create =
  (path: string, body: () => Record<string, unknown>) =>
  async (name: string): Promise<void> => {
    const webhookUrl = `http://127.0.0.1:${receiver.port}/${name}`;
    const answer = await caller.post<AnyRecord>(path, { ...body(), webhookUrl });
    expect(answer.status).toBe(202);
    requestIds.set(name, answer.body.requestId);
  };
const image = (directive?: string) =>
  create('/v1/generations', () => aGeneration({ size: '512x512', prompt: unique(directive) }));
const refusedImage = image('[fail=content_policy]');
const video = (directive?: string) =>
  create('/v1/videos', () => ({
    ...{ model: 'xW3.0s', resolution: '480p', durationSec: 2 },
    ...{ prompt: unique(directive), endUserEmail: 'ada@example.com' },
  }));

/** The requests of this file by the path of their webhook. All are created at once. */
const REQUESTS = {
  image: image(),
  'failed-image': refusedImage,
  video: video(),
  'failed-video': video('[fail=content_policy]'),
  'busy-once': refusedImage,
  gone: refusedImage,
  moved: refusedImage,
  broken: refusedImage,
  endless: refusedImage,
};
type Name = keyof typeof REQUESTS;
const idOf = (name: Name): string => requestIds.get(name) ?? '';

/** The deliveries of a request, once there are `attempts` of them. */
const arrived = (name: string, attempts = 1): Promise<ReceivedWebhook[]> =>
  eventually(
    async () => receiver.sentTo(`/${name}`),
    (webhooks) => webhooks.length >= attempts,
  );
/** An event without its URLs, which are signed afresh each time. */
const withoutUrls = (data: WebhookEvent['data']) =>
  JSON.parse(JSON.stringify(data, (key, value) => (key === 'url' ? 'signed' : value)));

describe.each([
  ['image', 'generation.succeeded', '/v1/generations'],
  ['failed-image', 'generation.failed', '/v1/generations'],
  ['video', 'video.succeeded', '/v1/videos'],
  ['failed-video', 'video.failed', '/v1/videos'],
] as const)('The end of a request (%s)', (name, type, path) => {
  let webhook: ReceivedWebhook | undefined;
  let event: WebhookEvent;
  let record: WebhookEvent['data'];
  beforeAll(async () => {
    [webhook] = await arrived(name);
    event = verified(webhook, secret);
    record = (await caller.get<WebhookEvent['data']>(`${path}/${idOf(name)}`)).body;
  });

  test(`is delivered as ${type} with the record as it reads, signed for the official library`, () => {
    expect(webhook?.headers['user-agent']).toBe(`generation-service/${VERSION}`);
    expect(Object.keys(event)).toEqual(['type', 'timestamp', 'data']);
    expect(event).toMatchObject({ type, timestamp: record.finishedAt });
    expect(record.status).toBe(type.split('.')[1]);
    expect(withoutUrls(event.data)).toEqual(withoutUrls(record));
  });

  test('is delivered once, under the id of the request, with working URLs, without an execution', async () => {
    expect(await deliveryEnded(service, idOf(name))).toBeUndefined();
    expect(await executionsNamed(service, 'webhookDelivery', idOf(name))).toEqual([]);

    const ids = receiver.sentTo(`/${name}`).map(({ headers }) => headers['webhook-id']);
    expect(ids).toEqual([`msg_${idOf(name)}`]);
    const { images = [], videos = [] } = event.data;
    const files = await Promise.all([...images, ...videos].map(({ url }) => fetchFile(url)));
    expect(files.map(({ status }) => status)).toEqual(type.endsWith('succeeded') ? [200] : []);
  });
});

describe('A failed attempt', () => {
  test('is repeated with the same id, signed afresh', async () => {
    const webhooks = await arrived('busy-once', 2);

    const [first, second] = webhooks.map((webhook) => verified(webhook, secret));
    expect(second).toEqual(first);
    const timestamps = webhooks.map(({ headers }) => Number(headers['webhook-timestamp']));
    expect(timestamps[1]).toBeGreaterThan(timestamps[0] ?? Number.POSITIVE_INFINITY);
    expect(new Set(webhooks.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(await deliveryEnded(service, idOf('busy-once'))).toBe('SUCCEEDED');
    expect(receiver.sentTo('/busy-once')).toHaveLength(2);
  });

  test.each([
    ['with 410 is the last', 'gone', 1],
    ['with a redirect is not sent elsewhere', 'moved', ATTEMPTS],
    ['is none when the answer never ends', 'endless', 1],
  ] as const)('%s', async (_what, name, attempts) => {
    expect(await deliveryEnded(service, idOf(name))).toBe(attempts > 1 ? 'SUCCEEDED' : undefined);

    expect(receiver.sentTo(`/${name}`)).toHaveLength(attempts);
    expect(receiver.sentTo('/hook/elsewhere')).toEqual([]);
  });
});

describe('An operator', () => {
  test('sees every attempt of a webhook that was not delivered', async () => {
    await deliveryEnded(service, idOf('broken'));

    const made = { delivery: idOf('broken'), status: 500, milliseconds: expect.any(Number) };
    const startedAt = expect.stringMatching(/Z$/);
    expect(await shownAttempts(service, idOf('broken'))).toEqual(
      [1, 2, 3].map((number) => ({ ...made, number, startedAt })),
    );
  });

  test('sends it again, under the same webhook id', async () => {
    await deliveryEnded(service, idOf('broken'));

    const queued = await ops(service, 'requests', 'retry-webhook', '--id', idOf('broken'));

    expect(queued).toEqual({ webhookId: `msg_${idOf('broken')}`, queuedAt: expect.stringMatching(/Z$/) });
    const webhooks = await arrived('broken', ATTEMPTS + 1);
    expect(new Set(webhooks.map(({ headers }) => headers['webhook-id']))).toEqual(
      new Set([`msg_${idOf('broken')}`]),
    );
    expect(verified(webhooks.at(-1), secret)).toEqual(verified(webhooks[0], secret));
    const attempts = await eventually(
      () => shownAttempts(service, idOf('broken')),
      ({ length }) => length > ATTEMPTS,
    );
    expect(attempts.map(({ number, status }) => [number, status])).toEqual([
      [1, 500],
      [2, 500],
      [3, 500],
      [1, 200],
    ]);
    expect(attempts.at(-1)?.delivery).toMatch(new RegExp(`^${idOf('broken')}-[0-9A-Z]{26}$`));
  });
});
