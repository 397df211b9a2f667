import { describe, expect, jest, test } from '@jest/globals';
import type { Provider, ProviderAnswer } from '../../../../core/provider-calls/providers.ts';
import { requestKey } from '../../../../core/table/keys.ts';
import { VIDEO_ID } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { aDone, leadingTo } from '../../builders/providers.ts';
import {
  at,
  commands,
  dueAt,
  dueKeyOf,
  executions,
  listed,
  memory,
  request,
} from '../../builders/reconciling.ts';
import { checkDueItems } from '../../builders/runs.ts';
import { accepted, answering } from '../../builders/waiting-request.ts';
import { BUSY, check, later, openUntil, WAITING, waiting } from './a-check.ts';

describe('a check of an unfinished task', () => {
  test.each([
    [
      'leaves it to its execution until half a minute after its deadline',
      629,
      'processing',
      { kind: 'waiting' } as const,
    ],
    ['ends it then, whatever became of its execution', 630, 'failed', { kind: 'waiting' } as const],
    ['leaves what was produced by then to its execution', 630, 'processing', aDone('a')],
  ])('%s', (_, seconds, status, answer) =>
    withEnvironment({ VIDEO_DEADLINE_SECONDS: '600' }, async () => {
      waiting();

      const { checks } = await check(seconds, answer);

      expect(memory.get(requestKey(VIDEO_ID))).toMatchObject({ status });
      // What has ended is not checked again.
      expect(checks.map(({ kind }) => kind)).toEqual([status === 'failed' ? 'done' : 'open']);
    }),
  );

  test('leaves it to another release, however late, while only that one knows its status', () =>
    withEnvironment({ VIDEO_DEADLINE_SECONDS: '600' }, async () => {
      waiting();
      memory.patch(requestKey(VIDEO_ID), { status: 'parked' });

      const { checks, provider } = await check(630);

      expect(checks.map(({ kind }) => kind)).toEqual(['open']);
      expect(provider.query).not.toHaveBeenCalled();
      expect(memory.get(requestKey(VIDEO_ID))).toMatchObject({ status: 'parked' });
    }));

  test('queries it, writes nothing, and says when to query it next', async () => {
    waiting();

    const { provider, checks } = await check(4);

    expect(provider.query).toHaveBeenCalledTimes(1);
    // A task younger than 40 s is queried every 2 s.
    expect(checks).toEqual([{ ...openUntil(6), rest: expect.anything(), isReported: true }]);
    expect(memory.calls()).not.toHaveProperty('UpdateCommand');
    expect(commands()).toEqual([]);
  });

  test('wakes the execution once when it has finished, and lists the request for later', async () => {
    waiting();

    expect((await check(4, aDone('a'))).checks).toEqual([later]);
    expect(executions.woken).toEqual([{ taskToken: 'token-1', output: { result: { next: 'store' } } }]);
    expect(dueKeyOf(VIDEO_ID)).toEqual(listed('CHECK', 304));
    await check(5);
    expect(executions.woken).toHaveLength(1);
  });

  test('wakes the execution without a query when all have finished', async () => {
    waiting();
    request.withAttempt({ outcome: aDone('a') });

    expect((await check(4)).provider.query).not.toHaveBeenCalled();
    expect(executions.woken).toHaveLength(1);
    expect(dueKeyOf(VIDEO_ID)).toEqual(listed('CHECK', 304));
  });

  test('queries only the tasks that are still open the next time, and wakes the execution after the last', async () => {
    waiting();
    request.withAttempt({ call: 1, ...accepted('task-2') });
    request.withAttempt({ call: 2, ...accepted('task-3'), outcome: aDone('c') });
    const provider = answering(aDone('a'));
    provider.query.mockResolvedValueOnce(WAITING);

    const [checked] = await checkDueItems(4, leadingTo(provider));
    expect(executions.woken).toEqual([]);
    if (checked?.kind === 'open') await checked.rest?.act((query) => query());

    expect(provider.query.mock.calls.map(([taskId]) => taskId)).toEqual(['task-1', 'task-2', 'task-1']);
    expect(executions.woken).toHaveLength(1);
  });

  test('names its unfinished tasks alone to a provider that lists them', async () => {
    waiting();
    request.withAttempt({ call: 1, ...accepted('task-2'), outcome: aDone('b') });
    request.withAttempt({ call: 2, ...accepted('task-3') });
    const provider = { ...answering(WAITING), list: jest.fn<NonNullable<Provider['list']>>() };

    const [checked] = await checkDueItems(4, leadingTo(provider));

    expect(checked).toMatchObject({ rest: { listed: { taskIds: ['task-1', 'task-3'] } } });
  });

  test('waits for the outcome of a call that is being made', async () => {
    waiting();
    request.withAttempt({ call: 1, taskId: undefined, outcome: undefined });

    const { provider, checks } = await check(4, aDone('a'));

    expect(provider.query).not.toHaveBeenCalled();
    expect(checks).toEqual([openUntil(6)]);
  });

  test('makes no query before the provider’s Retry-After, its own or an earlier one', async () => {
    waiting({ notBefore: at(90) });

    const held = await check(30, aDone('a'));
    expect(held.provider.query).not.toHaveBeenCalled();
    expect(held.checks).toMatchObject([openUntil(90)]);

    const { provider, checks } = await check(90, { ...BUSY, retryAfterSeconds: 60 });
    expect(checks).toMatchObject([openUntil(150)]);
    const [checked] = checks;
    if (checked?.kind === 'open') await checked.rest?.act((query) => query());
    expect(provider.query).toHaveBeenCalledTimes(1);
    expect(request.wait()).toMatchObject({ notBefore: at(150) });
  });
});

describe('a check of the task of a provider that calls back', () => {
  test.each<[string, object, number, boolean, number]>([
    ['waits for less than the limit', {}, 299.999, false, 300],
    ['waits for as long as the limit', {}, 300, true, 600],
    ['was queried less than the limit ago', { queriedAt: at(10) }, 309.999, false, 310],
    ['was queried as long ago as the limit', { queriedAt: at(10) }, 310, true, 610],
    ['waits again, for less than the limit', { waitingSince: at(20), queriedAt: at(10) }, 319, false, 320],
    ['waits again, for as long as the limit', { waitingSince: at(20), queriedAt: at(10) }, 320, true, 620],
    ['is not known to wait', { waitingSince: undefined }, 300, true, 600],
  ])('that %s (%j): at %p s queries it: %p; then due at %p s', async (_, wait, seconds, queried, next) => {
    waiting(wait);

    const { provider } = await check(seconds, aDone('a'), true);

    expect(provider.query).toHaveBeenCalledTimes(queried ? 1 : 0);
    expect(executions.woken).toHaveLength(queried ? 1 : 0);
    expect(dueKeyOf(VIDEO_ID)).toEqual(listed('CHECK', next));
  });

  test('queries an unfinished one again only after the limit that the deployment configures', async () => {
    waiting();

    await withEnvironment({ CALLBACK_WAIT_SECONDS: '40' }, async () => {
      expect((await check(39, WAITING, true)).provider.query).not.toHaveBeenCalled();
      expect((await check(40, WAITING, true)).provider.query).toHaveBeenCalledTimes(1);
      expect(dueKeyOf(VIDEO_ID)).toEqual(listed('CHECK', 80));
    });
  });
});

describe('a query without an answer, of a provider that calls back', () => {
  test.each<[string, ProviderAnswer]>([
    ['a busy or silent provider', BUSY],
    ['a provider that refuses the query for the first time', { kind: 'refused' }],
  ])('by %s is made again after 45 s, and the result is delivered', async (_, answer) => {
    waiting();

    expect((await check(300, answer, true)).checks).toEqual([openUntil(345)]);
    const { provider } = await check(345, aDone('a'), true);

    expect(provider.query).toHaveBeenCalledTimes(1);
    expect(executions.woken).toHaveLength(1);
  });

  test('is not made again before the provider’s Retry-After', async () => {
    waiting();

    await check(300, { ...BUSY, retryAfterSeconds: 60 }, true);
    const { checks, provider } = await check(345, aDone('a'), true);

    expect(provider.query).not.toHaveBeenCalled();
    expect(checks).toMatchObject([openUntil(360)]);
  });
});

describe('the execution of an unfinished task', () => {
  test.each([
    [299, false],
    [300, true],
    [374, true],
    [390, false],
    [659, true],
  ])('after %p s of waiting is checked: %p', async (seconds, isChecked) => {
    waiting();

    await check(seconds);

    expect(commands()).toEqual(isChecked ? ['DescribeExecutionCommand'] : []);
  });

  test.each<[string, () => void]>([
    ['is queued', () => request.given({ status: 'queued' })],
    ['stores its outputs', () => request.withAttempt({ outcome: aDone('a') })],
    ['makes a synchronous call', () => request.withAttempt({ taskId: undefined, outcome: undefined })],
  ])('is checked when its request %s, and the request left alone', async (_, change) => {
    waiting();
    executions.reset();
    executions.put('generation', VIDEO_ID, 'RUNNING');
    change();
    dueAt(0);

    expect((await check(300)).provider.query).not.toHaveBeenCalled();
    expect(commands()).toContain('DescribeExecutionCommand');
    expect(dueKeyOf(VIDEO_ID)).toEqual(listed('CHECK', 600));
  });
});
