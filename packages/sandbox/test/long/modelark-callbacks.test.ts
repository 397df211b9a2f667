import { afterEach, describe, expect, test } from '@jest/globals';
import { anArkVideo, aReceiver, aSandbox, poll, taskIdOf, useSandbox } from '../sandbox-client.ts';

type Receiver = Awaited<ReturnType<typeof aReceiver>>;

const sandbox = useSandbox({ callbackTiming: { lateMilliseconds: 3_000 } });
/** For callbacks that are repeated: other receivers have the usual five seconds, however busy the machine is. */
const impatient = useSandbox({ callbackTiming: { acknowledgeMilliseconds: 600 } });

const receivers: Receiver[] = [];
afterEach(() => {
  for (const receiver of receivers.splice(0)) receiver.close();
});
const openReceiver = async (statusOf?: Parameters<typeof aReceiver>[0]) => {
  const receiver = await aReceiver(statusOf);
  receivers.push(receiver);
  return receiver;
};

const submit = async (prompt: string, callback_url?: string, through = sandbox): Promise<string> =>
  taskIdOf(
    await through.arkVideo(anArkVideo({ prompt, ...(callback_url !== undefined && { callback_url }) })),
  );
const taskOf = (id: string) => sandbox.arkTask<{ status: string; updated_at: number }>(id);
/** Sorted: two callbacks soon after each other may overtake each other. */
const statusesOf = ({ calls }: Receiver, id: string) =>
  calls.flatMap((call) => (call.id === id ? [call.status] : [])).toSorted();
const untilCalled = (receiver: Receiver, id: string, status: string, times = 1) =>
  poll(
    async () => statusesOf(receiver, id).filter((seen) => seen === status).length,
    (count) => count >= times,
  );

/** The attempts in the journal by their time, once there are at least `count`. */
const attemptsOf = async (id: string, count: number, through = sandbox) => {
  const journal = await poll(
    () => through.journalOf(id),
    (record) => (record?.callbacks.length ?? 0) >= count,
  );
  return (journal?.callbacks ?? []).toSorted(
    (one, other) => Date.parse(one.sentAt) - Date.parse(other.sentAt),
  );
};

describe('a ModelArk callback', () => {
  test('is not sent for a task that was cancelled', async () => {
    const receiver = await openReceiver();
    const id = await submit('a fox [queued=3] [delay=0]', receiver.url);

    const answer = await sandbox.call('DELETE', `/api/v3/contents/generations/tasks/${id}`);
    expect([answer.status, await answer.json()]).toEqual([200, {}]);
    const witness = await submit('a fox [queued=3.1] [delay=0]', receiver.url);
    await untilCalled(receiver, witness, 'succeeded');

    expect(await taskOf(id)).toMatchObject({ id, status: 'cancelled', error: null });
    expect(statusesOf(receiver, id)).toEqual(['queued']);
    expect((await sandbox.journalOf(id))?.cancels).toBe(1);
  });

  test('carries the task object at each status change', async () => {
    const receiver = await openReceiver();
    const id = await submit('a fox', receiver.url);

    const attempts = await attemptsOf(id, 3);

    expect(statusesOf(receiver, id)).toEqual(['queued', 'running', 'succeeded']);
    expect(receiver.calls.find(({ status }) => status === 'succeeded')).toEqual(await taskOf(id));
    expect(attempts).toEqual(
      ['queued', 'running', 'succeeded'].map((status) => ({
        status,
        attempt: 1,
        sentAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        answer: 200,
      })),
    );
  });

  test('carries the error of a failed task', async () => {
    const receiver = await openReceiver();
    const id = await submit('a fox [fail=content_policy] [delay=0.1]', receiver.url);

    await untilCalled(receiver, id, 'failed');

    expect(receiver.calls.find(({ status }) => status === 'failed')).toMatchObject({
      id,
      status: 'failed',
      error: { code: 'OutputVideoSensitiveContentDetected' },
    });
  });

  test('has three attempts after an error, a redirect and no response', async () => {
    const answers = [
      [500, 500],
      [307, 307],
      ['never', 'TimeoutError'],
    ] as const;
    // At once, so that each may take its time.
    const three = answers.map(async ([answer, recorded]) => {
      const receiver = await openReceiver(() => answer);
      const id = await submit('a fox [delay=0]', receiver.url, impatient);

      const attempts = await attemptsOf(id, 3, impatient);
      // Once a later task has had its three attempts, the first one cannot have a fourth.
      const later = await submit('a later fox [delay=0]', receiver.url, impatient);
      await attemptsOf(later, 3, impatient);

      const expected = [1, 2, 3].map((attempt) => ({ status: 'succeeded', attempt, answer: recorded }));
      expect(attempts).toMatchObject(expected);
      expect(await attemptsOf(id, 3, impatient)).toHaveLength(3);
      expect(receiver.calls.filter((call) => call.id === id)).toHaveLength(3);
    });
    await Promise.all(three);
  });

  test('is not repeated after a 2xx', async () => {
    const receiver = await openReceiver((call) => (call === 0 ? 503 : 204));
    const id = await submit('a fox [delay=0]', receiver.url, impatient);

    expect(await attemptsOf(id, 2, impatient)).toMatchObject([{ answer: 503 }, { answer: 204 }]);
    const later = await submit('a later fox [delay=0.7]', receiver.url);
    await untilCalled(receiver, later, 'succeeded');

    expect(statusesOf(receiver, id)).toEqual(['succeeded', 'succeeded']);
  });

  test('records a refused connection', async () => {
    const receiver = await openReceiver();
    receiver.close();
    const id = await submit('a fox [delay=0]', receiver.url);

    expect(await attemptsOf(id, 1)).toMatchObject([{ status: 'succeeded', answer: 'ECONNREFUSED' }]);
  });

  test('is not sent without a callback URL, with [callback=off] or with [forget]', async () => {
    const receiver = await openReceiver();
    const silent = [
      await submit('a fox'),
      await submit('a fox [callback=off]', receiver.url),
      await submit('a fox [forget]', receiver.url),
    ];
    const later = await submit('a fox', receiver.url);

    await untilCalled(receiver, later, 'succeeded');

    expect(receiver.calls.filter(({ id }) => silent.includes(id))).toEqual([]);
    expect((await taskOf(silent[1] ?? '')).status).toBe('succeeded');
  });

  test('[callback=twice] is sent twice', async () => {
    const receiver = await openReceiver();
    const id = await submit('a fox [callback=twice]', receiver.url);

    await attemptsOf(id, 6);

    const twice = ['queued', 'running', 'succeeded'].flatMap((status) => [status, status]);
    expect(statusesOf(receiver, id)).toEqual(twice);
  });

  test('[callback=late] delays only the last callback', async () => {
    const receiver = await openReceiver();
    const id = await submit('a fox [callback=late]', receiver.url);

    const attempts = await attemptsOf(id, 3);
    const { updated_at: endedAtSecond } = await taskOf(id);
    const [, runningAt = 0, succeededAt = 0] = attempts.map(({ sentAt }) => Date.parse(sentAt));
    expect(attempts.map(({ status }) => status)).toEqual(['queued', 'running', 'succeeded']);
    expect(succeededAt).toBeGreaterThanOrEqual(endedAtSecond * 1000 + 3_000);
    // 0.4 s if none were late, or all of them.
    expect(succeededAt - runningAt).toBeGreaterThan(1_500);
  });

  test('carries the word of [status]', async () => {
    const receiver = await openReceiver();
    const id = await submit('a fox [status=in_review]', receiver.url);

    await attemptsOf(id, 3);

    expect(statusesOf(receiver, id)).toEqual(['in_review', 'in_review', 'succeeded']);
  });

  test('is aborted when the sandbox closes', async () => {
    const receiver = await openReceiver();
    const closed = await aSandbox();
    const id = await submit('a fox', receiver.url, closed);
    await closed.close();

    const later = await submit('a fox', receiver.url);
    await untilCalled(receiver, later, 'succeeded');

    expect(statusesOf(receiver, id)).not.toContain('succeeded');
  });
});

describe("the sandbox's journal", () => {
  test('records the queries and the callback URL of a task', async () => {
    const receiver = await openReceiver();
    const id = await submit('a fox [callback=off]', receiver.url);
    for (const _ of [1, 2, 3]) await taskOf(id);

    expect(await sandbox.journalOf(id)).toEqual({
      id,
      upstream: 'modelark',
      model: 'dreamina-seedance-2-0-260128',
      prompt: 'a fox [callback=off]',
      callbackUrl: receiver.url,
      queries: 3,
      cancels: 0,
      callbacks: [],
    });
    expect(await sandbox.journalOf('cgt-unknown')).toBeUndefined();
  });

  test('finds tasks by a substring of their prompt, newest first', async () => {
    const [first, , second] = [
      await submit('a fox #7'),
      await submit('a bear'),
      await submit('another fox #7'),
    ];

    const response = await fetch(`${sandbox.url}/sandbox/tasks?prompt=${encodeURIComponent('fox #7')}`);

    const { tasks } = (await response.json()) as { tasks: { id: string }[] };
    expect(tasks.map(({ id }) => id)).toEqual([second, first]);
  });
});
