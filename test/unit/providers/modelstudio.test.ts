import { describe, expect, test } from '@jest/globals';
import type { ProviderAnswer } from '../../../core/provider-calls/providers.ts';
import { ModelStudio } from '../../../providers/modelstudio/modelstudio.ts';
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
  test.each<[string, unknown[], ProviderAnswer]>([
    [
      'one in each choice',
      [choice('a'), choice('b')],
      { kind: 'done', outputs: [{ url: url('a') }, { url: url('b') }], usage: { images: 1 } },
    ],
    ['no choice', [], { ...NONE, taken: 'yes' }],
  ])('are returned by the call as %s', async (_, choices, answer) => {
    server.answer(200, { request_id: 'r-1', output: { choices }, usage: { image_count: 1 } });

    expect(await submit()).toEqual(answer);
  });

  test.each<[unknown, number]>([
    [[{ message: null }, choice('a')], 1],
    [[{ message: { content: 'In words.' } }, choice('a')], 1],
    [[{ message: { content: [{ text: 'no' }, { image: null }, 7, { image: url('a') }] } }], 1],
    [[choice('a', 'b'), choice('c')], 3],
    [null, 0],
    ['In words.', 0],
    [[7], 0],
  ])('are those of any choice that has some: %j', async (choices, count) => {
    server.answer(200, { output: { choices } });

    const told = await submit();
    expect(told.kind === 'done' ? told.outputs.length : 0).toBe(count);
    expect(told).toMatchObject(count > 0 ? { kind: 'done' } : { ...NONE, taken: 'yes' });
  });

  test.each<[number, string, ProviderAnswer]>([
    [
      ...([429, 'PrepaidBillOverdue'] as const),
      { kind: 'failed', failure: FAILURE.access, taken: 'no', obstacle: 'access' },
    ],
    [
      ...([503, 'ModelUnavailable'] as const),
      { kind: 'busy', reason: 'modelstudio answered ModelUnavailable.', obstacle: 'throttled' },
    ],
    [504, 'RequestTimeOut', { kind: 'failed', failure: FAILURE.timeout, taken: 'unknown' }],
  ])('are refused with %p %s', async (status, code, answer) => {
    server.answer(status, error(code));

    expect(withoutUpstream(await submit())).toEqual(answer);
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

  test.each<[unknown[], ProviderAnswer]>([
    [[choice('a'), choice('b')], { kind: 'done', outputs: [{ url: url('a') }, { url: url('b') }] }],
    [[], NONE],
  ])('that succeeded has the images of all choices: %j', async (choices, answer) => {
    server.answer(200, task({ task_status: 'SUCCEEDED', choices }));

    expect(await query()).toEqual(answer);
  });

  test.each<[string, unknown, object]>([
    [
      'seconds of input and output',
      { duration: 8.1, input_video_duration: 3.1, output_video_duration: 5 },
      { usage: { inputSeconds: 3.1, outputSeconds: 5 } },
    ],
    [
      'seconds of the input, and of both together',
      { duration: 8.1, input_video_duration: 3.1 },
      { usage: { inputSeconds: 3.1 } },
    ],
    ['seconds of the output alone', { duration: 5, video_count: 1 }, { usage: { outputSeconds: 5 } }],
    ['nothing of them', { duration: '5', input_video_duration: null }, { usage: {} }],
    ['null', null, {}],
    ['text', 'none', {}],
  ])('tells its usage, as far as it is told: %s', async (_, usage, expected) => {
    server.answer(200, { ...task({ task_status: 'SUCCEEDED', video_url: VIDEO_URL }), usage });

    expect(await query()).toEqual({ kind: 'done', outputs: [{ url: VIDEO_URL }], ...expected });
  });

  test.each<[string, unknown, object]>([
    [
      'images of the output before those of the call',
      { image_count: 2, output_image_count: 1 },
      { images: 1 },
    ],
    ['images of the call', { image_count: 2 }, { images: 2 }],
    [
      'seconds of the output before all others',
      { duration: 8, output_video_duration: 5 },
      { outputSeconds: 5 },
    ],
    ['no seconds of an input that was none', { input_video_duration: 0, duration: 5 }, { inputSeconds: 0 }],
  ])('is billed by %s', async (_, usage, expected) => {
    server.answer(200, { ...task({ task_status: 'SUCCEEDED', video_url: VIDEO_URL }), usage });

    expect(await query()).toMatchObject({ usage: expected });
    expect(Object.keys(((await query()) as { usage: object }).usage)).toEqual(Object.keys(expected));
  });

  test('that succeeded is its video, not the choices beside it', async () => {
    server.answer(200, task({ task_status: 'SUCCEEDED', video_url: VIDEO_URL, choices: [choice('a')] }));

    expect(await query()).toEqual({ kind: 'done', outputs: [{ url: VIDEO_URL }] });
  });

  test.each<[number, object | string, string]>([
    [200, task({ task_status: 'UNKNOWN' }), 'lost'],
    [200, task({ task_status: 'FAILED' }), 'failed'],
    [200, task({ task_status: 'EXPIRED' }), 'failed'],
    [200, task({ task_status: 'SUSPENDED' }), 'refused'],
    [201, task({ task_status: 'RUNNING' }), 'refused'],
    [404, error('NotFound'), 'refused'],
    [400, error('DataInspectionFailed'), 'refused'],
    [429, error('Throttling'), 'busy'],
  ])('whose query is answered with %i %j is %s', async (status, body, kind) => {
    server.answer(status, body);

    expect(await query()).toMatchObject({ kind });
  });

  test.each([
    [
      { code: 'InvalidParameter.Size', message: 'why' },
      { code: 'InvalidParameter.Size', message: 'why' },
    ],
    [{ code: null }, { code: 'CANCELED' }],
  ])('that failed with %j tells it to operators', async (told, upstream) => {
    server.answer(200, task({ task_status: 'CANCELED', ...told }));

    expect(await query()).toMatchObject({ kind: 'failed', upstream });
  });

  test('whose state is not reported is lost if that goes on', async () => {
    server.answer(200, '{"output":{"task_id":"task-1"}}');

    expect(await query()).toMatchObject({ kind: 'refused', failure: FAILURE.lost });
  });

  test('whose query is refused for a quota of the account are queried again, as after any 429', async () => {
    server.answer(429, { code: 'Throttling.AllocationQuota', message: 'no quota' });

    expect(await query()).toMatchObject({ kind: 'busy' });
  });
});
