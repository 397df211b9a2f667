import { describe, expect, test } from '@jest/globals';
import { createCallbacks } from '../src/callbacks.ts';
import type { Call } from '../src/http.ts';
import { PLAIN_MEDIA } from '../src/media/plain-media.ts';
import { createVideoHandlers } from '../src/modelark/videos.ts';
import { createOutputs } from '../src/outputs.ts';
import { createTaskJournal } from '../src/task-journal.ts';
import { anArkVideo, arkErrorOf, poll, useSandbox } from './sandbox-client.ts';

const sandbox = useSandbox();

const XW3_PRO = 'sandbox-xw3-pro';
const TASK_ID = /^cgt-\d{14}-[a-z0-9]{5}$/;

type Task = {
  id: string;
  status: string;
  error: { code: string; message: string } | null;
  content?: { video_url?: string };
};

const submit = async (request: Record<string, unknown> = anArkVideo()): Promise<string> => {
  const response = await sandbox.arkVideo(request);
  expect(response.status).toBe(200);
  const answer = (await response.json()) as { id: string };
  expect(answer).toEqual({ id: expect.stringMatching(TASK_ID) });
  return answer.id;
};
const query = (id: string) => sandbox.call('GET', `/api/v3/contents/generations/tasks/${id}`);
const untilStatus = (id: string, status: string) =>
  poll(
    () => sandbox.arkTask<Task>(id),
    (task) => task.status === status,
  );

describe('a ModelArk video task', () => {
  test('is queued, running and succeeded, with the full task object', async () => {
    const fields = {
      resolution: '1080p',
      ratio: '9:16',
      duration: 4,
      generate_audio: false,
      safety_identifier: 'user-1',
      execution_expires_after: 3_600,
    };
    const make = (directive: string) => submit(anArkVideo({ prompt: `a fox ${directive}`, ...fields }));
    const common = {
      model: 'dreamina-seedance-2-0-260128',
      error: null,
      created_at: expect.closeTo(Date.now() / 1000, -1),
      updated_at: expect.closeTo(Date.now() / 1000, -1),
      seed: expect.any(Number),
      framespersecond: 24,
      service_tier: 'default',
      ...fields,
    };

    const waits = await make('[queued=60]');
    expect(await sandbox.arkTask<Task>(waits)).toEqual({ ...common, id: waits, status: 'queued' });
    const runs = await make('[queued=0] [fail=timeout]');
    expect(await sandbox.arkTask<Task>(runs)).toEqual({ ...common, id: runs, status: 'running' });
    const id = await make('[delay=0]');
    const succeeded = await untilStatus(id, 'succeeded');

    expect(succeeded).toEqual({
      ...{ ...common, id },
      status: 'succeeded',
      content: {
        video_url: expect.stringMatching(`^${sandbox.url}/outputs/[0-9a-f-]{36}\\.mp4$`),
      },
      usage: { completion_tokens: 194_400, total_tokens: 194_400 },
    });
    expect(await sandbox.arkTask<Task>(id)).toEqual(succeeded);
  });

  test.each([
    ['Seedance 2.0', {}, { resolution: '720p', ratio: '16:9', duration: 5, generate_audio: true }],
    ['sandbox-xw3-pro', { model: XW3_PRO }, { resolution: '1080p', ratio: '16:9', duration: 5 }],
    ['the duration -1', { duration: -1 }, { duration: 5 }],
  ])('has the defaults of %s', async (_, fields, expected) => {
    expect(await sandbox.arkTask<Task>(await submit(anArkVideo(fields)))).toMatchObject({
      ...expected,
      execution_expires_after: 172_800,
    });
  });

  test('is 404 when unknown', async () => {
    expect(await arkErrorOf(await query('cgt-20260101000000-abcde'))).toMatchObject({
      status: 404,
      code: 'NotFound.id',
      type: 'NotFound',
    });
  });
});

describe('a ModelArk video task under directives', () => {
  test.each([
    ['[fail=content_policy]', 400, 'InputTextSensitiveContentDetected', 'BadRequest'],
    ['[fail=provider_error]', 500, 'InternalServiceError', 'InternalServerError'],
  ])('%s rejects the creation with %i %s', async (directive, status, code, type) => {
    const response = await sandbox.arkVideo(anArkVideo({ prompt: `a fox ${directive}` }));

    expect(await arkErrorOf(response)).toMatchObject({ status, code, type });
  });
});

describe('a ModelArk video task over time', () => {
  const HOUR_MILLISECONDS = 3_600_000;

  const handlersAt = (clock: { time: number }) => {
    const now = () => clock.time;
    const journal = createTaskJournal();
    const outputs = createOutputs({ baseUrl: 'http://here/outputs', now, media: PLAIN_MEDIA });
    const handlers = createVideoHandlers({
      outputs,
      journal,
      callbacks: createCallbacks({ journal, now }),
      now,
    });
    const aCall = (fields: Partial<Call>): Call => ({
      headers: {},
      body: {},
      params: {},
      query: new URLSearchParams(),
      requestId: '',
      signal: new AbortController().signal,
      ...fields,
    });
    return {
      create: (body: Record<string, unknown>) => (handlers.create(aCall({ body })) as { id: string }).id,
      query: (taskId: string) => handlers.query(aCall({ params: { taskId } })) as Task,
      remove: (taskId: string) => handlers.remove(aCall({ params: { taskId } })),
    };
  };

  test('can be cancelled while queued, and deleted once it ended, but not in between', () => {
    const clock = { time: Date.now() };
    const { create, query, remove } = handlersAt(clock);
    const queued = create(anArkVideo({ prompt: 'a fox [queued=60]' }));
    const other = create(anArkVideo({ prompt: 'a fox [queued=60] [delay=5]' }));

    expect(remove(queued)).toEqual({});
    expect(query(queued).status).toBe('cancelled');
    expect(() => remove(queued)).toThrow(expect.objectContaining({ status: 409 }));

    clock.time += 60_000;
    expect(query(other).status).toBe('running');
    expect(() => remove(other)).toThrow(
      expect.objectContaining({ status: 409, code: 'InvalidAction.RunningTaskDeletion' }),
    );

    clock.time += 5_000;
    expect(query(other).status).toBe('succeeded');
    expect(remove(other)).toEqual({});
    expect(() => query(other)).toThrow('is not found');
    expect(() => remove(other)).toThrow('is not found');
  });

  test('expires when it takes longer than `execution_expires_after`', () => {
    const clock = { time: Date.now() };
    const { create, query } = handlersAt(clock);
    const fields = { execution_expires_after: 3_600 };
    const forever = create(anArkVideo({ ...fields, prompt: 'a fox [fail=timeout]' }));
    const slow = create(anArkVideo({ ...fields, prompt: 'a fox [delay=3600]' }));

    clock.time += HOUR_MILLISECONDS - 1;
    expect([query(forever).status, query(slow).status]).toEqual(['running', 'running']);

    clock.time += 1;
    expect([query(forever).status, query(slow).status]).toEqual(['expired', 'succeeded']);
    expect(query(forever)).not.toHaveProperty('content');
  });

  test('is kept for seven days', () => {
    const clock = { time: Date.now() };
    const { create, query } = handlersAt(clock);
    const id = create(anArkVideo());

    clock.time += 7 * 24 * HOUR_MILLISECONDS - 1;
    expect(query(id).status).toBe('succeeded');

    clock.time += 1;
    expect(() => query(id)).toThrow('is not found');
  });
});
