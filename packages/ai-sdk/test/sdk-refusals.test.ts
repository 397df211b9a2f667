import { AISDKError, APICallError, LoadSettingError, NoSuchModelError } from '@ai-sdk/provider';
import { describe, expect, test } from '@jest/globals';
import { createProviderRegistry, generateImage, experimental_generateVideo as generateVideo } from 'ai';
import { PaymentRequiredError, RequestFailedError } from '../../client/src/index.ts';
import { hangUp, json, refuse } from '../../client/test/server.ts';
import { createGenerationService } from '../src/index.ts';
import { startService, thrownBy } from './a-service.ts';

const { server, answer, provider, creations } = startService();
const QUICK = { generationService: { pollIntervalMs: 1 } };
const said = { prompt: 'a lighthouse', providerOptions: QUICK };

describe('A refusal', () => {
  test('is an APICallError with its status, code, headers and body, and is not repeated', async () => {
    answer({ 'POST /v1/generations': refuse(402, 'payment_required') });
    const error = await thrownBy(generateImage({ ...said, model: provider().image('xSD4.5') }));

    if (!APICallError.isInstance(error)) throw error;
    expect(error).toMatchObject({
      ...{ statusCode: 402, message: 'It is payment_required.', url: `${server.url}/v1/generations` },
      ...{ isRetryable: false, data: { code: 'payment_required' } },
      requestBodyValues: { model: 'xSD4.5', prompt: 'a lighthouse' },
      responseHeaders: { 'x-request-id': 'call-1' },
    });
    expect(JSON.parse(error.responseBody ?? '')).toMatchObject({ error: { code: 'payment_required' } });
    expect(error.cause).toBeInstanceOf(PaymentRequiredError);
    expect(creations()).toHaveLength(1);
  });

  test('of fields names them', async () => {
    const refusal = { code: 'validation_error', message: 'No.', fields: { durationSec: 'is too long' } };
    answer({ 'POST /v1/videos': json(400, { error: refusal }) });
    const call = generateVideo({ ...said, model: provider().video('xW3.0s'), duration: 99 });

    expect(await thrownBy(call)).toMatchObject({ data: { fields: { durationSec: 'is too long' } } });
  });

  test('for a long pause is thrown at once', async () => {
    answer({
      'POST /v1/generations': refuse(503, 'temporarily_unavailable', { 'retry-after': '300' }),
    });
    const error = await thrownBy(generateImage({ ...said, model: provider().image('xSD4.5') }));

    expect(error).toMatchObject({ statusCode: 503, isRetryable: false });
    expect(creations()).toHaveLength(1);
  });
});

test('A lost answer is repeated by the client with one key, and never by the AI SDK with another', async () => {
  answer({ 'POST /v1/generations': hangUp });
  const model = provider({ maxRetries: 1 }).image('xSD4.5');
  const error = await thrownBy(generateImage({ ...said, model }));

  expect(APICallError.isInstance(error) && error.url).toBe(server.url);
  expect(error).toMatchObject({ isRetryable: false });
  expect(creations()).toHaveLength(2);
  expect(new Set(creations().map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
});

test('Images that were created are not made again, whatever becomes of the wait', async () => {
  answer({ 'GET /v1/generations/img_1': refuse(503, 'temporarily_unavailable', { 'retry-after': '0' }) });
  const error = await thrownBy(generateImage({ ...said, model: provider().image('xSD4.5') }));

  expect(error).toMatchObject({ statusCode: 503, isRetryable: false });
  expect(creations()).toHaveLength(1);
});

test('Images that failed are an AISDKError whose cause has the record', async () => {
  const message = 'references[0] is smaller than the model takes.';
  const failed = { requestId: 'img_1', status: 'failed', error: { code: 'provider_error', message } };
  answer({ 'GET /v1/generations/img_1': json(200, failed) });
  const error = await thrownBy(generateImage({ ...said, model: provider().image('xSD4.5') }));

  if (!AISDKError.isInstance(error)) throw error;
  expect(error.name).toBe('RequestFailedError');
  expect(error.message).toContain(message);
  if (!(error.cause instanceof RequestFailedError)) throw error;
  expect(error.cause.record).toMatchObject(failed);
});

test('A wait that took too long is an APICallError that is not repeated', async () => {
  answer({ 'GET /v1/generations/img_1': json(200, { requestId: 'img_1', status: 'queued' }) });
  const providerOptions = { generationService: { pollIntervalMs: 1, pollTimeoutMs: 5 } };
  const call = generateImage({ ...said, providerOptions, model: provider().image('xSD4.5') });

  expect(await thrownBy(call)).toMatchObject({
    isRetryable: false,
    message: expect.stringContaining('img_1'),
  });
  expect(creations()).toHaveLength(1);
});

describe('Before anything is sent', () => {
  test.each([
    ['unknown', 'image'],
    ['xW3.0s', 'image'],
    ['xSD4.5', 'video'],
  ] as const)('%s is no %s model', async (id, kind) => {
    answer();
    const models = provider();
    const call =
      kind === 'image'
        ? generateImage({ ...said, model: models.image(id) })
        : generateVideo({ ...said, model: models.video(id) });

    expect(NoSuchModelError.isInstance(await thrownBy(call))).toBe(true);
    expect(creations()).toEqual([]);
  });

  test('an end-user is asked for', async () => {
    answer();
    const models = provider({ endUserEmail: undefined });
    const named = { argument: 'endUserEmail' };

    expect(await thrownBy(generateImage({ ...said, model: models.image('xSD4.5') }))).toMatchObject(named);
    expect(await thrownBy(generateVideo({ ...said, model: models.video('xW3.0s') }))).toMatchObject(named);
    expect(creations()).toEqual([]);
  });

  test('a prompt is asked for', async () => {
    answer();
    const image = 'https://example.com/a.png';
    const ofImage = { model: provider().image('xSD4.5'), prompt: { images: [image] } };
    const ofVideo = { model: provider().video('xW3.0s'), prompt: { image } };

    expect(await thrownBy(generateImage(ofImage))).toMatchObject({ name: 'AI_InvalidPromptError' });
    expect(await thrownBy(generateVideo(ofVideo))).toMatchObject({ name: 'AI_InvalidPromptError' });
    expect(creations()).toEqual([]);
  });

  test('a missing setting is named', async () => {
    const model = createGenerationService({ baseURL: 'http://example.com', apiKey: 'a' }).image('xSD4.5');
    const error = await thrownBy(generateImage({ ...said, model }));

    expect(LoadSettingError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ message: 'baseUrl is not https:' });
  });
});

test('A registry finds the models, and no others', async () => {
  answer();
  const registry = createProviderRegistry({ gs: provider() });

  expect(registry.imageModel('gs:xSD4.5')).toMatchObject({ provider: 'generation-service.image' });
  expect(registry.videoModel('gs:xW3.0s')).toMatchObject({ provider: 'generation-service.video' });
  expect(() => registry.languageModel('gs:xSD4.5')).toThrow(NoSuchModelError);
  expect(() => registry.embeddingModel('gs:xSD4.5')).toThrow(NoSuchModelError);
});
