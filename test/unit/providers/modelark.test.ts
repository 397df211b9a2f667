import '../builders/environment.ts';
import { describe, expect, test } from '@jest/globals';
import type { ProviderAnswer } from '../../../core/provider-calls/providers.ts';
import { ModelArk } from '../../../providers/modelark/modelark.ts';
import { anImageRequest, aVideoRequest } from '../builders/entities.ts';
import { describeConformance } from './conformance/kit.ts';
import { MODELARK_WIRE } from './conformance/modelark.ts';
import { A_CALL, FAILURE, patient, server, withoutUpstream } from './conformance/server.ts';

const error = (code: string) => ({
  error: { code, message: 'In detail. Request id: 02', type: 'BadRequest', param: '' },
});
describeConformance(MODELARK_WIRE);

const ark = () => new ModelArk({ baseUrl: server.url, apiKey: 'secret-key' });
const submit = () => ark().submit(A_CALL, patient());
const CALLBACK_URL = 'https://api.example.com/callbacks/modelark/vid_1/token';
const url = (name: string) => `https://ark.example.com/${name}.jpeg`;
const blocked = { error: { code: 'OutputImageSensitiveContentDetected', message: 'blocked' } };
const NONE: ProviderAnswer = { kind: 'failed', failure: FAILURE.error, taken: 'yes' };
const broken = { error: { code: 'InternalServiceError', message: 'broke' } };

describe('images of ModelArk', () => {
  test('are planned in its wire format', () => {
    expect(ark().plan(anImageRequest({ images: 2 }), 'seedream', CALLBACK_URL)).toMatchObject({
      mode: 'synchronous',
      calls: [{ path: '/images/generations' }, { path: '/images/generations' }],
    });
  });

  test.each<[string, unknown[], ProviderAnswer]>([
    [
      'one',
      [{ url: url('a'), size: '2048x2048', output_format: 'jpeg' }],
      { kind: 'done', outputs: [{ url: url('a') }] },
    ],
    [
      'several',
      [{ url: url('a') }, { url: url('b') }],
      { kind: 'done', outputs: [{ url: url('a') }, { url: url('b') }] },
    ],
    [
      'some, in order, with the failures of the others',
      [blocked, { url: url('b') }, broken],
      {
        kind: 'done',
        outputs: [{ failure: FAILURE.content }, { url: url('b') }, { failure: FAILURE.error }],
      },
    ],
    [
      'none, for a content decision among others',
      [broken, blocked],
      { kind: 'failed', failure: FAILURE.content, taken: 'yes' },
    ],
    ['none, for an error', [broken], { kind: 'failed', failure: FAILURE.error, taken: 'yes' }],
    ['none, for an error without a code', [{ error: { code: null } }], NONE],
    ['none, for no reason', [], NONE],
    [
      'some, with null for what there is not',
      [
        { url: url('a'), error: null },
        { url: null, error: { code: 'InternalServiceError', message: null } },
        { url: '', error: null },
      ],
      { kind: 'done', outputs: [{ url: url('a') }, { failure: FAILURE.error }, { failure: FAILURE.error }] },
    ],
  ])('come as %s', async (_, data, answer) => {
    server.answer(200, {
      model: 'seedream',
      created: 1_795_000_000,
      data,
      usage: { generated_images: 1, output_tokens: 16_384, total_tokens: 16_384 },
    });

    expect(withoutUpstream(await submit())).toEqual(
      answer.kind === 'done' ? { ...answer, usage: { images: 1 } } : answer,
    );
  });

  test.each([
    ['beside an empty list', { data: [] }],
    ['alone', {}],
  ])('fail with the error of the whole call, %s', async (_, rest) => {
    server.answer(200, { model: 'seedream', ...rest, ...blocked });

    expect(withoutUpstream(await submit())).toEqual({
      kind: 'failed',
      failure: FAILURE.content,
      taken: 'yes',
    });
  });

  test('in another form than requested are lost', async () => {
    server.answer(200, { data: [{ b64_json: 'AAAA' }, { url: null, error: null }] });

    expect(await submit()).toEqual({ kind: 'lost', failure: FAILURE.lost });
  });

  test('are refused for a quota: the call may be made again, and fails if that goes on', async () => {
    server.answer(429, error('QuotaExceeded'));

    expect(await submit()).toEqual({
      ...{ kind: 'busy', reason: 'modelark answered QuotaExceeded.', ifRepeated: FAILURE.access },
      obstacle: 'throttled',
      upstream: expect.objectContaining({ code: 'QuotaExceeded' }),
    });
  });

  test('cause no callback', () => {
    const plan = ark().plan(anImageRequest(), 'seedream', CALLBACK_URL);

    expect(ark().callsBack('image')).toBe(false);
    expect(JSON.stringify(plan)).not.toContain(CALLBACK_URL);
  });
});

describe('videos of ModelArk', () => {
  test('are planned as tasks that call back', () => {
    expect(ark().plan(aVideoRequest(), 'seedance', CALLBACK_URL)).toMatchObject({
      mode: 'asynchronous',
      calls: [{ path: '/contents/generations/tasks', body: { callback_url: CALLBACK_URL } }],
    });
    expect(ark().callsBack('video')).toBe(true);
  });

  test.each([{}, { id: '' }, { id: 7 }, { task_id: 'cgt-1' }])(
    'whose task has no id are lost: %j',
    async (body) => {
      server.answer(200, body);

      expect(await submit()).toEqual({ kind: 'lost', failure: FAILURE.lost });
    },
  );
});

describe('a task of ModelArk', () => {
  const query = () => ark().query('cgt-1', patient());
  const task = (status: string, rest: Record<string, unknown> = {}) => ({
    id: 'cgt-1',
    model: 'seedance',
    status,
    created_at: 1_795_000_000,
    updated_at: 1_795_000_060,
    ...rest,
  });
  const VIDEO_URL = 'https://ark.example.com/video.mp4';

  test.each<[string, Record<string, unknown>, ProviderAnswer]>([
    ['queued', {}, { kind: 'waiting' }],
    ['running', { content: null, error: null }, { kind: 'waiting' }],
    [
      'succeeded',
      { content: { video_url: VIDEO_URL, last_frame_url: null }, usage: { completion_tokens: 108_900 } },
      { kind: 'done', outputs: [{ url: VIDEO_URL }] },
    ],
    [
      'succeeded',
      { content: { video_url: VIDEO_URL }, duration: 5 },
      { kind: 'done', outputs: [{ url: VIDEO_URL }], usage: { outputSeconds: 5 } },
    ],
    [
      'succeeded',
      { content: { video_url: VIDEO_URL }, duration: '5' },
      { kind: 'done', outputs: [{ url: VIDEO_URL }] },
    ],
    ['succeeded', {}, { kind: 'failed', failure: FAILURE.error }],
    ['succeeded', { content: null }, { kind: 'failed', failure: FAILURE.error }],
    ['succeeded', { content: { video_url: '' } }, { kind: 'failed', failure: FAILURE.error }],
    ['expired', {}, { kind: 'failed', failure: FAILURE.timeout }],
    ['cancelled', {}, { kind: 'failed', failure: FAILURE.error }],
    ['failed', {}, { kind: 'failed', failure: FAILURE.error }],
    ['failed', { error: null }, { kind: 'failed', failure: FAILURE.error }],
    ['failed', { error: { code: null } }, { kind: 'failed', failure: FAILURE.error }],
    ['succeeded', { content: { video_url: null } }, { kind: 'failed', failure: FAILURE.error }],
    [
      'failed',
      { error: { code: 'OutputVideoSensitiveContentDetected', message: 'blocked' } },
      { kind: 'failed', failure: FAILURE.content },
    ],
    ['failed', { error: { code: 'InternalServiceError' } }, { kind: 'failed', failure: FAILURE.error }],
    ['failed', { error: { code: 'AccountOverdueError' } }, { kind: 'failed', failure: FAILURE.access }],
  ])('that is %s with %j is classified', async (status, rest, answer) => {
    server.answer(200, task(status, rest));

    expect(withoutUpstream(await query())).toEqual(answer);
  });

  test.each([
    [200, '{"status":7}'],
    [503, JSON.stringify(task('failed'))],
  ])('whose query is answered with %p %s is queried again', async (status, body) => {
    server.answer(status, body);

    expect(await query()).toMatchObject({ kind: 'busy' });
  });
});
