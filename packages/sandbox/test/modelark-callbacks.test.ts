import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { anArkVideo, aReceiver, aSandbox, poll } from './sandbox-client.ts';

type Receiver = Awaited<ReturnType<typeof aReceiver>>;

let sandbox: Awaited<ReturnType<typeof aSandbox>>;
let opened: { close(): unknown }[];
beforeEach(async () => {
  opened = [];
  sandbox = await openSandbox({ acknowledgeMilliseconds: 100, lateMilliseconds: 3_000 });
});
afterEach(async () => {
  for (const { close } of opened) await close();
});

const openSandbox = async (callbackTiming: {
  acknowledgeMilliseconds?: number;
  lateMilliseconds?: number;
}) => {
  const created = await aSandbox({ callbackTiming });
  opened.push(created);
  return created;
};
const openReceiver = async (statusOf?: Parameters<typeof aReceiver>[0]) => {
  const receiver = await aReceiver(statusOf);
  opened.push(receiver);
  return receiver;
};

const submit = async (prompt: string, callbackUrl?: string, through = sandbox): Promise<string> => {
  const request = anArkVideo({ prompt, ...(callbackUrl !== undefined && { callback_url: callbackUrl }) });
  const response = await through.arkVideo(request);
  return ((await response.json()) as { id: string }).id;
};
const taskOf = async (id: string) =>
  (await (await sandbox.call('GET', `/api/v3/contents/generations/tasks/${id}`)).json()) as {
    status: string;
    updated_at: number;
  };
const statusesOf = ({ calls }: Receiver, id: string) =>
  calls.filter((call) => call.id === id).map(({ status }) => status);
const untilCalled = (receiver: Receiver, id: string, status: string, times = 1) =>
  poll(
    async () => statusesOf(receiver, id).filter((seen) => seen === status).length,
    (count) => count >= times,
  );

/** What the sandbox noted, once it noted so many attempts. */
const attemptsOf = async (id: string, count: number) => {
  const journal = await poll(
    () => sandbox.journalOf(id),
    (seen) => (seen?.callbacks.length ?? 0) >= count,
  );
  return journal?.callbacks ?? [];
};

describe('a ModelArk callback', () => {
  test('carries the task object at each change of its status', async () => {
    const receiver = await openReceiver();
    const id = await submit('a fox', receiver.url);

    await untilCalled(receiver, id, 'succeeded');

    expect(statusesOf(receiver, id)).toEqual(['queued', 'running', 'succeeded']);
    expect(receiver.calls.at(-1)).toEqual(await taskOf(id));
    expect(await attemptsOf(id, 3)).toEqual(
      ['queued', 'running', 'succeeded'].map((status) => ({
        status,
        attempt: 1,
        sentAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        answer: 200,
      })),
    );
  });

  test('is not sent before a query says the same', async () => {
    const receiver = await openReceiver();
    const id = await submit('a fox', receiver.url);

    await untilCalled(receiver, id, 'succeeded');

    expect((await taskOf(id)).status).toBe('succeeded');
  });

  test('tells of a failure with its error', async () => {
    const receiver = await openReceiver();
    const id = await submit('a fox [fail=content_policy] [delay=0.1]', receiver.url);

    await untilCalled(receiver, id, 'failed');

    expect(receiver.calls.at(-1)).toMatchObject({
      id,
      status: 'failed',
      error: { code: 'OutputVideoSensitiveContentDetected' },
    });
  });

  test.each([
    ['a refusal', 500, 500],
    ['a redirect', 307, 307],
    ['silence', 'never', 'TimeoutError'],
  ] as const)('is made three times in all after %s', async (_, answer, noted) => {
    const receiver = await openReceiver(() => answer);
    const id = await submit('a fox [delay=0]', receiver.url);

    const attempts = await attemptsOf(id, 3);
    // Its own retries are over once a later task, refused as often, has had all of its.
    const later = await submit('a later fox [delay=0]', receiver.url);
    await attemptsOf(later, 3);

    const expected = [1, 2, 3].map((attempt) => ({ status: 'succeeded', attempt, answer: noted }));
    expect(attempts).toMatchObject(expected);
    expect(await attemptsOf(id, 3)).toHaveLength(3);
    expect(receiver.calls.filter((call) => call.id === id)).toHaveLength(3);
  });

  test('is not repeated once it is acknowledged', async () => {
    const receiver = await openReceiver((call) => (call === 0 ? 503 : 204));
    const id = await submit('a fox [delay=0]', receiver.url);

    expect(await attemptsOf(id, 2)).toMatchObject([{ answer: 503 }, { answer: 204 }]);
    const later = await submit('a later fox [delay=0.5]', receiver.url);
    await untilCalled(receiver, later, 'succeeded');

    expect(statusesOf(receiver, id)).toEqual(['succeeded', 'succeeded']);
  });

  test('notes a receiver that is not there', async () => {
    const receiver = await openReceiver();
    receiver.close();
    const id = await submit('a fox [delay=0]', receiver.url);

    expect(await attemptsOf(id, 1)).toMatchObject([{ status: 'succeeded', answer: 'ECONNREFUSED' }]);
  });

  test('is not sent where none is asked for, or the prompt or the upstream forgets it', async () => {
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

    await untilCalled(receiver, id, 'succeeded', 2);

    const twice = ['queued', 'running', 'succeeded'].flatMap((status) => [status, status]);
    expect(statusesOf(receiver, id)).toEqual(twice);
  });

  test('[callback=late] sends only the last one long after the end', async () => {
    const receiver = await openReceiver();
    const id = await submit('a fox [callback=late]', receiver.url);

    await untilCalled(receiver, id, 'succeeded');

    const attempts = await attemptsOf(id, 3);
    const { updated_at: endedAtSecond } = await taskOf(id);
    const [, runningAt = 0, succeededAt = 0] = attempts.map(({ sentAt }) => Date.parse(sentAt));
    expect(attempts.map(({ status }) => status)).toEqual(['queued', 'running', 'succeeded']);
    expect(succeededAt).toBeGreaterThanOrEqual(endedAtSecond * 1000 + 3_000);
    // Without lateness, or were all of them late, it would be 0.4 s.
    expect(succeededAt - runningAt).toBeGreaterThan(1_500);
  });

  test('[status] is in the callbacks too', async () => {
    const receiver = await openReceiver();
    const id = await submit('a fox [status=in_review]', receiver.url);

    await untilCalled(receiver, id, 'succeeded');

    expect(statusesOf(receiver, id)).toEqual(['in_review', 'in_review', 'succeeded']);
  });

  test('is given up when the sandbox closes', async () => {
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
  test('counts the queries of a task and says where it is announced', async () => {
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
      callbacks: [],
    });
    expect(await sandbox.journalOf('cgt-unknown')).toBeUndefined();
  });

  test('finds tasks by a part of their prompt, newest first', async () => {
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
