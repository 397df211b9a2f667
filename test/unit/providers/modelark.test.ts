import { describe, expect, test } from '@jest/globals';
import type { ProviderAnswer } from '../../../core/provider-calls/providers.ts';
import { ModelArk } from '../../../providers/modelark/modelark.ts';
import { describeConformance } from './conformance/kit.ts';
import { MODELARK_WIRE } from './conformance/modelark.ts';
import { A_CALL, FAILURE, patient, server, withoutUpstream } from './conformance/server.ts';

const error = (code: string, message = 'In detail.') => ({ error: { code, message } });
describeConformance(MODELARK_WIRE);

const ark = () => new ModelArk({ baseUrl: server.url, apiKey: 'secret-key' });
const submit = () => ark().submit(A_CALL, patient());
const blocked = error('OutputImageSensitiveContentDetected');
const broken = error('InternalServiceError', 'broke');

describe('images of ModelArk', () => {
  test.each<[string, unknown[], ProviderAnswer & { kind: 'failed' }]>([
    [
      'a content decision among others',
      [broken, blocked],
      { kind: 'failed', failure: FAILURE.output, taken: 'yes', upstream: broken.error },
    ],
    ['an error', [broken], { kind: 'failed', failure: FAILURE.error, taken: 'yes', upstream: broken.error }],
    [
      'an error without a code',
      [{ error: { code: null } }],
      { kind: 'failed', failure: FAILURE.error, taken: 'yes' },
    ],
  ])(
    'of which there is none for %s have failed, with the first error for operators',
    async (_, data, told) => {
      server.answer(200, { model: 'seedream', created: 1_795_000_000, data });

      expect(await submit()).toEqual(told);
    },
  );

  test.each([
    ['beside an empty list', { data: [] }],
    ['alone', {}],
  ])('fail with the error of the whole call, %s', async (_, rest) => {
    server.answer(200, { model: 'seedream', ...rest, ...blocked });

    expect(withoutUpstream(await submit())).toEqual({
      kind: 'failed',
      failure: FAILURE.output,
      taken: 'yes',
    });
  });

  test('are refused for a quota: the call may be made again, and fails if that goes on', async () => {
    server.answer(429, error('QuotaExceeded'));

    expect(await submit()).toEqual({
      ...{ kind: 'busy', reason: 'modelark answered QuotaExceeded.', ifRepeated: FAILURE.access },
      obstacle: 'throttled',
      upstream: expect.objectContaining({ code: 'QuotaExceeded' }),
    });
  });
});

describe('a creation of ModelArk', () => {
  const input = error('InvalidParameter.size');

  test.each<[string, unknown[], boolean]>([
    ['each of its images was', [input, input], true],
    ['one of its images was', [input, broken], false],
    ['it made none at all', [], false],
  ])('is the input’s fault where %s refused for the input', async (_, data, isBlamed) => {
    server.answer(200, { data });

    const told = await submit();
    expect(told).toMatchObject({ kind: 'failed', taken: 'yes' });
    expect('blamesInput' in told).toBe(isBlamed);
  });

  test.each([
    [200, { id: 'cgt-1' }, 'accepted'],
    [201, { id: 'cgt-1' }, 'lost'],
    [400, { id: 'cgt-1' }, 'failed'],
    [201, { data: [{ url: 'https://a' }] }, 'lost'],
    [200, { data: [{ url: 'https://a' }] }, 'done'],
    [200, { data: [{ url: 'https://a' }], error: input.error }, 'done'],
    [200, { data: [{ url: '' }, broken] }, 'failed'],
    [200, { data: [{ url: 7, ...broken }, { url: 'https://a' }] }, 'done'],
  ])('that is answered with %i %j is %s', async (status, body, kind) => {
    server.answer(status, body);

    expect(await submit()).toMatchObject({ kind });
  });

  test.each([
    [{ generated_images: 1 }, { usage: { images: 1 } }],
    [{ generated_images: null }, {}],
    [{}, {}],
    [null, {}],
  ])('tells the images that are billed, if it tells any: %j', async (usage, told) => {
    server.answer(200, { data: [{ url: 'https://a' }], usage });

    expect(await submit()).toEqual({ kind: 'done', outputs: [{ url: 'https://a' }], ...told });
  });
});

test.each([
  { data: [{ b64_json: 'AAAA' }, { url: null, error: null }] },
  { id: '' },
  { id: 7 },
  { task_id: 'cgt-1' },
])('a creation of ModelArk that answers in another form than requested is lost: %j', async (body) => {
  server.answer(200, body);

  expect(await submit()).toEqual({ kind: 'lost', failure: FAILURE.lost });
});

describe('a task of ModelArk', () => {
  const query = (body: object) => {
    server.answer(200, { id: 'cgt-1', model: 'seedance', ...body });
    return ark().query('cgt-1', patient());
  };
  const VIDEO_URL = 'https://ark.example.com/video.mp4';

  test.each([
    [5, { usage: { outputSeconds: 5 } }],
    ['5', {}],
  ])('that made a video of %j s tells them as its usage, if they are a number', async (duration, usage) => {
    expect(await query({ status: 'succeeded', content: { video_url: VIDEO_URL }, duration })).toEqual({
      ...{ kind: 'done', outputs: [{ url: VIDEO_URL }] },
      ...usage,
    });
  });

  test.each([
    [{}, FAILURE.error],
    [error('AccountOverdueError'), FAILURE.access],
  ])('that failed with %j has failed so', async (rest, failure) => {
    expect(withoutUpstream(await query({ status: 'failed', ...rest }))).toEqual({ kind: 'failed', failure });
  });

  test.each(['expired', 'EXPIRED', 'timeout'])('that is %s has timed out', async (status) => {
    expect(await query({ status })).toEqual({ kind: 'failed', failure: FAILURE.timeout });
  });

  test.each([{}, { content: null }, { content: { video_url: null } }, { content: { video_url: '' } }])(
    'that succeeded without a video has failed: %j',
    async (rest) => {
      expect(await query({ status: 'succeeded', duration: 5, ...rest })).toEqual({
        ...{ kind: 'failed', failure: FAILURE.error },
      });
    },
  );

  test.each([
    ['content', { content: 7 }],
    ['error', { error: 'none' }],
    ['seed and length', { seed: 'none', duration: 'none' }],
  ])('has ended, though its %s cannot be read', async (_, odd) => {
    const ended = { status: 'succeeded', content: { video_url: VIDEO_URL } };

    expect((await query({ ...ended, ...odd })).kind).toBe('content' in odd ? 'failed' : 'done');
  });

  test('failed by its status where it tells no error', async () => {
    expect(await query({ status: 'Aborted', error: {} })).toMatchObject({ upstream: { code: 'Aborted' } });
  });

  test.each<[number, object | string, string]>([
    [404, error('ResourceNotFound'), 'lost'],
    [404, '<html>', 'refused'],
    [403, error('AccessDenied'), 'refused'],
    [201, { id: 'cgt-1', status: 'running' }, 'refused'],
    [400, error('InputTextSensitiveContentDetected'), 'refused'],
  ])('whose query is answered with %i %j is %s', async (status, body, kind) => {
    server.answer(status, body);

    expect(await ark().query('cgt-1', patient())).toMatchObject({ kind });
  });

  test('in a state that is no text is lost if that goes on', async () => {
    expect(await query({ status: 7 })).toMatchObject({ kind: 'refused', failure: FAILURE.lost });
  });
});
