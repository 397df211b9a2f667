import '../builders/environment.ts';
import { describe, expect, test } from '@jest/globals';
import type { ProviderAnswer } from '../../../core/provider-calls/providers.ts';
import { ModelStudio } from '../../../providers/modelstudio/modelstudio.ts';
import { anImageRequest, aVideoRequest } from '../builders/entities.ts';
import { describeConformance } from './conformance/kit.ts';
import { MODELSTUDIO_WIRE } from './conformance/modelstudio.ts';
import { A_CALL, FAILURE, meaningOf, patient, server, withoutUpstream } from './conformance/server.ts';

const error = (code: string) => ({ request_id: 'r-1', code, message: 'In detail.' });
describeConformance(MODELSTUDIO_WIRE);

const studio = () => new ModelStudio({ baseUrl: server.url, apiKey: 'secret-key' });
const submit = () => meaningOf(studio().submit(A_CALL, patient()));
const query = () => meaningOf(studio().query('task-1', patient()));
const url = (name: string) => `https://studio.example.com/${name}.png`;
/** A choice with these images and the text that Z-Image adds. */
const choice = (...names: string[]) => ({
  finish_reason: 'stop',
  message: {
    role: 'assistant',
    content: [...names.map((name) => ({ image: url(name) })), { text: 'a lighthouse' }],
  },
});
const NONE: ProviderAnswer & { kind: 'failed' } = { kind: 'failed', failure: FAILURE.error };

test("Model Studio's own id of a call is in the body", async () => {
  server.answer(400, error('InvalidParameter'));

  expect(await studio().submit(A_CALL, patient())).toMatchObject({ providerRequestId: 'r-1' });
});

describe('images of Model Studio', () => {
  test('are planned in its wire format', () => {
    expect(studio().plan(anImageRequest(), 'qwen-image')).toMatchObject({ mode: 'asynchronous' });
    expect(studio().plan(anImageRequest(), 'z-image-turbo')).toMatchObject({ mode: 'synchronous' });
  });

  test.each<[string, unknown[], ProviderAnswer]>([
    ['one', [choice('a')], { kind: 'done', outputs: [{ url: url('a') }] }],
    [
      'many in one choice',
      [choice('a', 'b')],
      { kind: 'done', outputs: [{ url: url('a') }, { url: url('b') }] },
    ],
    [
      'one in each choice',
      [choice('a'), choice('b')],
      { kind: 'done', outputs: [{ url: url('a') }, { url: url('b') }] },
    ],
    ['none in any choice', [choice(), choice()], { ...NONE, taken: 'yes' }],
    ['no choice', [], { ...NONE, taken: 'yes' }],
    [
      'null for what there is not',
      [
        choice('a'),
        { finish_reason: null, message: null },
        { message: { content: null } },
        { message: { content: [{ image: null, text: null }, { image: '' }] } },
      ],
      { kind: 'done', outputs: [{ url: url('a') }] },
    ],
  ])('are returned by the call as %s', async (_, choices, answer) => {
    server.answer(200, { request_id: 'r-1', output: { choices }, usage: { image_count: 1 } });

    expect(withoutUpstream(await submit())).toEqual(
      answer.kind === 'done' ? { ...answer, usage: { images: 1 } } : answer,
    );
  });

  test.each<[number, string, ProviderAnswer]>([
    [
      ...([429, 'Throttling.AllocationQuota'] as const),
      { kind: 'failed', failure: FAILURE.access, taken: 'no', obstacle: 'access' },
    ],
    [504, 'RequestTimeOut', { kind: 'failed', failure: FAILURE.timeout, taken: 'unknown' }],
    [200, 'DataInspectionFailed', { kind: 'failed', failure: FAILURE.content, taken: 'yes' }],
  ])('are refused with %p %s', async (status, code, answer) => {
    server.answer(status, error(code));

    expect(withoutUpstream(await submit())).toEqual(answer);
  });
});

describe('videos of Model Studio', () => {
  test('are planned as tasks without callbacks', () => {
    expect(studio().plan(aVideoRequest(), 'wan-video')).toMatchObject({
      mode: 'asynchronous',
      calls: [{ path: '/api/v1/services/aigc/video-generation/video-synthesis' }],
    });
    expect(studio().callsBack('video')).toBe(false);
  });
});

describe('a task of Model Studio', () => {
  const task = (output: Record<string, unknown>) => ({
    request_id: 'r-1',
    output: { task_id: 'task-1', submit_time: '2026-11-20 17:00:00.000', ...output },
  });

  const VIDEO_URL = 'https://studio.example.com/video.mp4';

  test('is queried without the header of a creation', async () => {
    server.answer(200, task({ task_status: 'RUNNING' }));
    await query();

    expect(server.requests[0]?.headers).not.toHaveProperty('x-dashscope-async');
  });

  test.each<[string, Record<string, unknown>, ProviderAnswer]>([
    ['PENDING', {}, { kind: 'waiting' }],
    ['RUNNING', {}, { kind: 'waiting' }],
    [
      'SUCCEEDED',
      { choices: [choice('a'), choice('b')] },
      { kind: 'done', outputs: [{ url: url('a') }, { url: url('b') }] },
    ],
    ['SUCCEEDED', { choices: [] }, NONE],
    ['SUCCEEDED', {}, NONE],
    ['SUCCEEDED', { choices: null, video_url: null, code: null }, NONE],
    ['FAILED', { code: null }, { kind: 'failed', failure: FAILURE.error }],
    ['FAILED', { code: '' }, { kind: 'failed', failure: FAILURE.error }],
    ['RUNNING', { choices: null, video_url: null, code: '' }, { kind: 'waiting' }],
    [
      'FAILED',
      { code: 'DataInspectionFailed', message: 'blocked' },
      { kind: 'failed', failure: FAILURE.content },
    ],
    [
      'FAILED',
      { code: 'InvalidParameter', message: 'mixed' },
      { kind: 'failed', failure: FAILURE.error, blamesInput: true },
    ],
    ['FAILED', { code: 'InternalError.Timeout' }, { kind: 'failed', failure: FAILURE.timeout }],
    ['FAILED', { code: 'Throttling' }, { kind: 'failed', failure: FAILURE.error }],
    ['FAILED', {}, { kind: 'failed', failure: FAILURE.error }],
    ['CANCELED', {}, { kind: 'failed', failure: FAILURE.error }],
    ['CANCELED', { code: 'InternalError.Timeout' }, { kind: 'failed', failure: FAILURE.timeout }],
    [
      'SUCCEEDED',
      { video_url: VIDEO_URL, orig_prompt: 'waves' },
      { kind: 'done', outputs: [{ url: VIDEO_URL }] },
    ],
    ['SUCCEEDED', { video_url: '' }, NONE],
  ])('that is %s with %j is classified', async (task_status, output, answer) => {
    server.answer(200, task({ task_status, ...output }));

    expect(withoutUpstream(await query())).toEqual(answer);
  });

  test.each<[string, unknown, object]>([
    [
      'seconds of input and output',
      { duration: 8.1, input_video_duration: 3.1, output_video_duration: 5 },
      { usage: { inputSeconds: 3.1, outputSeconds: 5 } },
    ],
    ['seconds of the output alone', { duration: 5, video_count: 1 }, { usage: { outputSeconds: 5 } }],
    ['nothing of them', { duration: '5', input_video_duration: null }, { usage: {} }],
    ['null', null, {}],
    ['text', 'none', {}],
  ])('tells its usage, as far as it is told: %s', async (_, usage, expected) => {
    server.answer(200, { ...task({ task_status: 'SUCCEEDED', video_url: VIDEO_URL }), usage });

    expect(await query()).toEqual({ kind: 'done', outputs: [{ url: VIDEO_URL }], ...expected });
  });

  test.each([
    [200, '{"output":{"task_id":"task-1"}}'],
    [503, JSON.stringify(task({ task_status: 'FAILED', code: 'ServiceUnavailable' }))],
  ])('whose query is answered with %p %s is queried again', async (status, body) => {
    server.answer(status, body);

    expect(await query()).toMatchObject({ kind: 'busy' });
  });

  test('whose query is refused for a quota of the account are queried again, as after any 429', async () => {
    server.answer(429, { code: 'Throttling.AllocationQuota', message: 'no quota' });

    expect(await query()).toMatchObject({ kind: 'busy' });
  });
});
