import { describe, expect, test } from '@jest/globals';
import {
  experimental_generateVideo as generateVideo,
  experimental_getVideoStatus as getVideoStatus,
  experimental_startVideo as startVideo,
} from 'ai';
import { hangUp, inTurn, json, refuse } from '../../client/test/server.ts';
import { PNG, startService, thrownBy } from './a-service.ts';

const { server, answer, provider, created, creations } = startService();
const MP4 = new Uint8Array([0, 0, 0, 0x18, 0x66, 0x74, 0x79, 0x70, 0x69, 0x73, 0x6f, 0x6d]);
const prompt = 'a lighthouse';
const poll = { intervalMs: 1 };
const model = (id = 'xW3.0s') => provider().video(id);
const queued = json(202, { requestId: 'vid_1', status: 'queued' });

describe('experimental_generateVideo', () => {
  test('starts a video, reads until it is there, and returns its file', async () => {
    const record = (status: string, more = {}) => json(200, { requestId: 'vid_1', status, ...more });
    const videos = [{ id: 'vid_1_0', duration: 2, resolution: '480p', url: `${server.url}/vid_1_0` }];
    answer({
      'GET /v1/videos/vid_1': inTurn(
        ...['queued', 'processing', 'of a later version'].map((status) => record(status)),
        record('succeeded', { cost: 40, videos }),
      ),
    });
    const result = await generateVideo({ model: model(), prompt, duration: 2, poll });

    expect(new TextDecoder().decode(result.video.uint8Array)).toBe('a video');
    expect(result.video.mediaType).toBe('video/mp4');
    expect(result.warnings).toEqual([]);
    expect(result.providerMetadata).toMatchObject({
      generationService: { requestId: 'vid_1', cost: 40, videos: [{ id: 'vid_1_0', duration: 2 }] },
    });
    expect(created()).toEqual({ model: 'xW3.0s', prompt, endUserEmail: 'ada@example.com', durationSec: 2 });
    expect(server.seen.filter(({ path }) => path.endsWith('vid_1'))).toHaveLength(4);
  });

  test('gives the service the URL of a webhook, and reads once when it came', async () => {
    type Received = { headers: Record<string, string>; body: null };
    const { promise: received, resolve } = Promise.withResolvers<Received>();
    answer({
      'POST /v1/videos': (...call) => {
        resolve({ headers: {}, body: null });
        return queued(...call);
      },
    });
    const webhook = async () => ({ url: 'https://example.com/hook', received });
    const { videos, warnings } = await generateVideo({ model: model(), prompt, webhook });

    expect([videos.length, warnings]).toEqual([1, []]);
    expect(created().webhookUrl).toBe('https://example.com/hook');
    expect(server.seen.filter(({ path }) => path.endsWith('vid_1'))).toHaveLength(1);
  });

  test('sends the key of the AI SDK, the same when a start is repeated', async () => {
    answer({ 'POST /v1/videos': inTurn(hangUp, queued) });
    await generateVideo({ model: model(), prompt, poll });

    const keys = creations().map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([expect.stringMatching(/^aisdk_vid_/), keys[0]]);
  });

  test('leaves a short pause of the service to the AI SDK, which repeats the start with its key', async () => {
    const paused = refuse(503, 'temporarily_unavailable', { 'retry-after': '0' });
    answer({ 'POST /v1/videos': inTurn(paused, queued) });
    await generateVideo({ model: model(), prompt, poll });

    expect(new Set(creations().map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(creations()).toHaveLength(2);
  });

  test('makes one request a video', async () => {
    answer();
    const { videos } = await generateVideo({ model: model(), prompt, n: 2, poll });

    expect([videos.length, creations().length]).toEqual([2, 2]);
    expect(new Set(creations().map(({ headers }) => headers['idempotency-key'])).size).toBe(2);
  });
});

describe('The settings of a video', () => {
  test('become the fields of the service', async () => {
    answer();
    await generateVideo({
      ...{ model: model(), prompt, poll, resolution: '854x480', duration: 3 },
      inputReferences: [
        'https://example.com/a.png',
        PNG,
        { data: MP4, mediaType: 'video/mp4' },
        { data: 'https://example.com/b.mp4', mediaType: 'video/mp4' },
      ],
      providerOptions: { generationService: { endUserEmail: 'bob@example.com' } },
    });

    const uploaded = expect.stringContaining('https://files.example.com/upload-');
    expect(created()).toEqual({
      ...{ model: 'xW3.0s', prompt, endUserEmail: 'bob@example.com', durationSec: 3 },
      ...{ resolution: '480p', ratio: '16:9' },
      referenceImages: ['https://example.com/a.png', uploaded],
      referenceVideos: [uploaded, 'https://example.com/b.mp4'],
    });
    const types = server.seen
      .filter(({ path }) => path === '/v1/uploads')
      .map(({ body }) => JSON.parse(body).contentType);
    expect(types.toSorted()).toEqual(['image/png', 'video/mp4']);
  });

  test('name frames by their roles', async () => {
    answer();
    await generateVideo({
      ...{ model: model(), prompt, poll, aspectRatio: 'adaptive' },
      frameImages: [
        { image: 'https://example.com/last.png', frameType: 'last_frame' },
        { image: PNG, frameType: 'first_frame' },
      ],
    });

    expect(created()).toMatchObject({
      ...{ image: expect.stringContaining('upload-'), lastFrame: 'https://example.com/last.png' },
      ratio: 'adaptive',
    });
  });

  test.each([
    ['1920x1080', { resolution: '1080p', ratio: '16:9' }],
    ['1080x1920', { resolution: '1080p', ratio: '9:16' }],
    ['3840x2160', { resolution: '4k', ratio: '16:9' }],
  ] as const)('take %s for %j', async (resolution, fields) => {
    answer();
    const { warnings } = await generateVideo({ model: model(), prompt, poll, resolution });

    expect(created()).toMatchObject(fields);
    expect(warnings).toEqual([]);
  });

  test('that are parameters go to a model that has them', async () => {
    answer();
    const { warnings } = await generateVideo({
      ...{ model: model('with-sound'), prompt, poll, seed: 4711, generateAudio: false },
    });

    expect(warnings).toEqual([]);
    expect(created()).toMatchObject({ model: 'with-sound', seed: 4711, generateAudio: false });
  });

  test('that the model does not take are left out with a warning each', async () => {
    answer();
    const { warnings } = await generateVideo({
      ...{ model: model('text-only'), poll, n: 2, maxVideosPerCall: 2 },
      ...{ seed: 1, fps: 24, generateAudio: true, aspectRatio: '21:9', resolution: '1280x720' },
      prompt: { text: prompt, image: 'https://example.com/a.png' },
      inputReferences: ['https://example.com/a.png', { data: MP4, mediaType: 'video/mp4' }],
    });

    expect(warnings.map((warning) => 'feature' in warning && warning.feature)).toEqual([
      ...['n', 'fps', 'seed', 'generateAudio', 'aspectRatio', 'resolution', 'image'],
      ...['inputReferences', 'inputReferences'],
    ]);
    expect(created()).toEqual({ model: 'text-only', prompt, endUserEmail: 'ada@example.com' });
  });

  test('of a frame go to a model that needs one; it takes no ratio and no last frame', async () => {
    answer();
    const { warnings } = await generateVideo({
      ...{ model: model('xW2.7S'), poll, prompt, resolution: '1920x1080' },
      frameImages: [
        { image: 'https://example.com/a.png', frameType: 'first_frame' },
        { image: 'https://example.com/b.png', frameType: 'last_frame' },
      ],
    });

    expect(created()).toMatchObject({ image: 'https://example.com/a.png', resolution: '1080p' });
    expect(warnings.map((warning) => 'feature' in warning && warning.feature)).toEqual([
      ...['resolution', 'frameImages'],
    ]);
    expect([created().ratio, created().lastFrame]).toEqual([undefined, undefined]);
  });
});

describe('A video that did not succeed', () => {
  test.each([
    [{ status: 'failed', error: { code: 'content_policy', message: 'No.' } }, 'content_policy: No.'],
    [{ status: 'expired' }, 'its files are gone.'],
  ])('is an error that says why', async (record, why) => {
    answer({ 'GET /v1/videos/vid_1': json(200, { requestId: 'vid_1', ...record }) });

    expect(await thrownBy(generateVideo({ model: model(), prompt, poll }))).toMatchObject({
      message: `The request vid_1 did not succeed: ${why}`,
    });
  });
});

test('An abort ends the wait for a video at once with the reason of the signal', async () => {
  const aborting = new AbortController();
  answer({ 'GET /v1/videos/vid_1': () => aborting.abort() });
  const call = { model: model(), prompt, poll, abortSignal: aborting.signal };

  expect(await thrownBy(generateVideo(call))).toMatchObject({ name: 'AbortError' });
});

test('A video that was started in one process is read in another by its operation', async () => {
  answer();
  const { operation } = await startVideo({ model: model(), prompt, webhookUrl: 'https://example.com/hook' });
  const status = await getVideoStatus(model(), { operation: JSON.parse(JSON.stringify(operation)) });

  expect(created().webhookUrl).toBe('https://example.com/hook');
  expect(status).toMatchObject({ status: 'completed' });
  expect(await thrownBy(getVideoStatus(model(), { operation: 'other' }))).toMatchObject({
    argument: 'operation',
  });
});
