import '../builders/environment.ts';
import { describe, expect, test } from '@jest/globals';
import type { ProviderAnswer } from '../../../core/provider-calls/providers.ts';
import { ModelArk } from '../../../providers/modelark/modelark.ts';
import { anImageRequest, aVideoRequest } from '../builders/entities.ts';
import { metricsCounted } from '../fakes/metrics.ts';
import { aClosedUrl } from '../servers/loopback-server.ts';
import { describeConformance } from './conformance/kit.ts';
import { MODELARK_WIRE } from './conformance/modelark.ts';
import { A_CALL, FAILURE, patient, server } from './conformance/server.ts';

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

    expect(await submit()).toEqual(answer.kind === 'done' ? { ...answer, usage: { images: 1 } } : answer);
  });

  test.each([
    ['beside an empty list', { data: [] }],
    ['alone', {}],
  ])('fail with the error of the whole call, %s', async (_, rest) => {
    server.answer(200, { model: 'seedream', ...rest, ...blocked });

    expect(await submit()).toEqual({ kind: 'failed', failure: FAILURE.content, taken: 'yes' });
  });

  test('in another form than requested are lost', async () => {
    server.answer(200, { data: [{ b64_json: 'AAAA' }, { url: null, error: null }] });

    expect(await submit()).toEqual({ kind: 'lost', failure: FAILURE.lost });
  });

  test.each<[number, string, ProviderAnswer]>([
    [400, 'InputTextSensitiveContentDetected', { kind: 'failed', failure: FAILURE.content, taken: 'no' }],
    [400, 'InvalidParameter', { kind: 'failed', failure: FAILURE.error, taken: 'no' }],
    [401, 'AuthenticationError', { kind: 'failed', failure: FAILURE.access, taken: 'no' }],
    [404, 'ModelNotOpen', { kind: 'failed', failure: FAILURE.access, taken: 'no' }],
    [
      429,
      'QuotaExceeded',
      { kind: 'busy', reason: 'modelark answered QuotaExceeded.', ifRepeated: FAILURE.access },
    ],
    [429, 'ServerOverloaded', { kind: 'busy', reason: 'modelark answered ServerOverloaded.' }],
    [500, 'InternalServiceError', { kind: 'failed', failure: FAILURE.error, taken: 'unknown' }],
  ])('are refused with %p %s', async (status, code, answer) => {
    server.answer(status, error(code));

    expect(await submit()).toEqual(answer);
    expect(server.requests).toHaveLength(1);
  });

  test('cause no callback', () => {
    const plan = ark().plan(anImageRequest(), 'seedream', CALLBACK_URL);

    expect(ark().callsBack('image')).toBe(false);
    expect(JSON.stringify(plan)).not.toContain(CALLBACK_URL);
  });

  test('never show the provider’s message to a caller', async () => {
    server.answer(400, error('InvalidParameter'));

    expect(JSON.stringify(await submit())).not.toMatch(/In detail|Request id|InvalidParameter/);
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

  test('are created as a task', async () => {
    server.answer(200, { id: 'cgt-20261120-abc' });

    expect(await submit()).toEqual({ kind: 'accepted', taskId: 'cgt-20261120-abc' });
  });

  test.each([{}, { id: '' }, { id: 7 }, { task_id: 'cgt-1' }])(
    'whose task has no id are lost: %j',
    async (body) => {
      server.answer(200, body);

      expect(await submit()).toEqual({ kind: 'lost', failure: FAILURE.lost });
    },
  );

  test.each<[number, string, ProviderAnswer]>([
    [
      400,
      'InputVideoSensitiveContentDetected.PrivacyInformation',
      { kind: 'failed', failure: FAILURE.content, taken: 'no' },
    ],
    [400, 'InvalidParameter.duration', { kind: 'failed', failure: FAILURE.error, taken: 'no' }],
    [403, 'AccountOverdueError', { kind: 'failed', failure: FAILURE.access, taken: 'no' }],
    [
      429,
      'QuotaExceeded',
      { kind: 'busy', reason: 'modelark answered QuotaExceeded.', ifRepeated: FAILURE.access },
    ],
    [429, 'RateLimitExceeded.EndpointRPMExceeded', { kind: 'busy', reason: expect.any(String) as never }],
  ])('are refused with %p %s', async (status, code, answer) => {
    server.answer(status, error(code));

    expect(await submit()).toEqual(answer);
  });
});

describe('a task of ModelArk', () => {
  const query = (taskId = 'cgt-1') => ark().query(taskId, patient());
  const task = (status: string, rest: Record<string, unknown> = {}) => ({
    id: 'cgt-1',
    model: 'seedance',
    status,
    created_at: 1_795_000_000,
    updated_at: 1_795_000_060,
    ...rest,
  });
  const VIDEO_URL = 'https://ark.example.com/video.mp4';

  test('is queried by its id, with the API key', async () => {
    server.answer(200, task('running'));
    await query('a/b c');

    expect(server.requests).toMatchObject([
      {
        method: 'GET',
        path: '/contents/generations/tasks/a%2Fb%20c',
        body: undefined,
        headers: { authorization: 'Bearer secret-key' },
      },
    ]);
  });

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

    expect(await query()).toEqual(answer);
  });

  test('in an unknown state is waited for, and counted for the operator', async () => {
    const counted = metricsCounted();
    server.answer(200, task('paused'));

    expect(await query()).toEqual({ kind: 'waiting' });
    expect(counted()).toEqual([['UnknownProviderState', { provider: 'modelark' }]]);
  });

  test('that the provider no longer knows is lost, which is counted only when it is final', async () => {
    const counted = metricsCounted();
    server.answer(404, error('NotFound'));

    expect(await query()).toEqual({ kind: 'lost', failure: FAILURE.lost });
    expect(counted()).toEqual([]);
  });

  test.each([
    [200, 'garbage'],
    [200, '{}'],
    [200, '{"status":7}'],
    [400, JSON.stringify(error('InvalidParameter'))],
    [429, JSON.stringify(error('RequestBurstTooFast'))],
    [500, JSON.stringify(error('InternalServiceError'))],
    [502, '<html></html>'],
    [503, JSON.stringify(task('failed'))],
  ])('whose query is answered with %p %s is queried again', async (status, body) => {
    server.answer(status, body);

    expect(await query()).toMatchObject({ kind: 'busy' });
  });

  test('whose query is not answered is queried again', async () => {
    server.respond = (_, response) => response.socket?.destroy();
    const closed = new ModelArk({ baseUrl: await aClosedUrl(), apiKey: '' });

    expect(await query()).toMatchObject({ kind: 'busy' });
    expect(await closed.query('cgt-1', patient())).toMatchObject({ kind: 'busy' });
    expect(await ark().query('cgt-1', AbortSignal.abort())).toMatchObject({ kind: 'busy' });
  });

  test('never shows the provider’s message to a caller', async () => {
    server.answer(200, task('failed', error('InternalServiceError')));

    expect(JSON.stringify(await query())).not.toMatch(/In detail|Request id|InternalServiceError/);
  });
});
