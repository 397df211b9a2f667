import { APICallError } from '@ai-sdk/provider';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { generateImage, experimental_generateVideo as generateVideo } from 'ai';
import { createGenerationService, type GenerationServiceProvider } from '../../packages/ai-sdk/src/index.ts';
import { verifyWebhook } from '../../packages/client/src/index.ts';
import { anImage } from '../../packages/media/test/images.ts';
import { eventually, newCaller, sharedService, unique } from '../contract/support/client.ts';
import { history } from '../contract/support/ledger.ts';
import { WebhookReceiver } from '../unit/servers/webhook-receiver.ts';

let caller: Awaited<ReturnType<typeof newCaller>>;
let provider: GenerationServiceProvider;
const receiver = new WebhookReceiver();
beforeAll(async () => {
  globalThis.AI_SDK_LOG_WARNINGS = false;
  await receiver.start();
  caller = await newCaller(await sharedService());
  provider = createGenerationService({
    ...{ baseURL: caller.service.baseUrl, apiKey: caller.key, endUserEmail: 'ai-sdk@example.com' },
  });
});
afterAll(() => receiver.close());

const providerOptions = { generationService: { pollIntervalMs: 300 } };
const aVideo = () => ({
  ...({ model: provider.video('xW3.0s'), resolution: '854x480', duration: 2 } as const),
  prompt: unique('[delay=0]'),
});

test('generateImage makes images of a size, from files and from text, each debited once', async () => {
  const picture = await anImage(300, 300, 'png');
  const call = { providerOptions, size: '1024x768' } as const;
  const made = await generateImage({
    ...{ ...call, model: provider.image('xQI3Pro'), n: 2 },
    prompt: { text: unique(), images: [picture] },
  });

  expect(made.images.map(({ mediaType }) => mediaType)).toEqual(['image/png', 'image/png']);
  expect(made.warnings).toEqual([]);
  const metadata = made.calls[0]?.providerMetadata?.generationService as unknown as {
    requestId: string;
    cost: number;
  };
  expect(await caller.get(`/v1/generations/${metadata.requestId}`)).toMatchObject({
    body: { referencesCount: 1, images: [{ size: '1024x768' }, { size: '1024x768' }], cost: metadata.cost },
  });
  expect((await history(caller)).filter(({ reason }) => reason === 'generation')).toMatchObject([
    { reference: metadata.requestId, amount: metadata.cost },
  ]);

  const [model, prompt] = [provider.image('xZI1.0Pro'), { text: unique(), images: [picture] }];
  const { images, warnings } = await generateImage({ ...call, model, prompt, seed: 1 });
  expect(images).toHaveLength(1);
  expect(warnings).toMatchObject([{ feature: 'files' }]);
});

test('generateVideo makes a video by reads', async () => {
  const { video, warnings, providerMetadata } = await generateVideo({
    ...aVideo(),
    poll: { intervalMs: 300 },
  });

  expect(new TextDecoder().decode(video.uint8Array.subarray(4, 8))).toBe('ftyp');
  expect(warnings).toEqual([]);
  expect(providerMetadata.generationService).toMatchObject({ videos: [{ duration: 2, resolution: '480p' }] });
});

test('generateVideo makes a video by a webhook, which the client verifies', async () => {
  const received = async () => {
    const [first] = await eventually(
      async () => receiver.received,
      (all) => all.length > 0,
    );
    if (!first) throw new Error('Nothing was received.');
    const { event } = await verifyWebhook(first.body, first.headers, caller.webhookSecret);
    return { headers: {}, body: { type: event.type } };
  };
  const webhook = async () => ({ url: receiver.url, received: received() });
  const { videos, providerMetadata } = await generateVideo({ ...aVideo(), webhook });

  expect(videos).toHaveLength(1);
  const { requestId } = providerMetadata.generationService as { requestId: string };
  expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({
    ...{ type: 'video.succeeded', data: { requestId } },
  });
});

test('What the service refuses and what fails are errors of the AI SDK', async () => {
  const poor = await newCaller(caller.service, 0);
  const { image } = createGenerationService({
    ...{ baseURL: poor.service.baseUrl, apiKey: poor.key, endUserEmail: 'ai-sdk@example.com' },
  });
  const refused = await generateImage({ model: image('xZI1.0Pro'), prompt: unique() }).catch(
    (error) => error,
  );
  const tooLong = generateVideo({ ...aVideo(), duration: 99, poll: { intervalMs: 300 } });
  const failing = { ...aVideo(), prompt: unique('[delay=0][fail=content_policy]') };

  expect(APICallError.isInstance(refused)).toBe(true);
  expect(refused).toMatchObject({ statusCode: 402, data: { code: 'payment_required' } });
  await expect(tooLong).rejects.toMatchObject({ data: { fields: { durationSec: expect.any(String) } } });
  await expect(generateVideo({ ...failing, poll: { intervalMs: 300 } })).rejects.toThrow(/content_policy/);
});
