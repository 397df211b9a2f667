import { DescribeExecutionCommand } from '@aws-sdk/client-sfn';
import { QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { beginRun as beginNewest, findReconcilerRun } from '../../../../core/executions/reconciler-run.ts';
import { DUE_SHARDS, duePartition, RECONCILER_RUN_KEY, requestKey } from '../../../../core/table/keys.ts';
import { systemClock } from '../../../../core/time.ts';
import { NOW } from '../../builders/clocks.ts';
import { at, dueKeyOf, executions, given, givenWaiting, listed, memory } from '../../builders/reconciling.ts';
import { beginRun, elapsed, passing, run, wait } from '../../builders/runs.ts';
import { aTaskProvider, idle } from './a-run.ts';

const END = 59;

describe('a run', () => {
  test('ends at once when nothing is due before its end, after 4 small queries of each list', async () => {
    givenWaiting(60);
    given(-44);

    expect(await run(idle)).toBe(0);

    expect(memory.client.commandCalls(QueryCommand)).toHaveLength(3 * 4 + 1);
    expect(memory.calls()).toEqual({ QueryCommand: 13, GetCommand: 1, UpdateCommand: 1 });
    expect(await findReconcilerRun()).toEqual({ functionName: 'reconcile', aliveUntilMs: 0 });
  });

  test('names its function once, for those who start one', async () => {
    await run(idle);
    memory.client.resetHistory();
    await run(idle);

    expect(memory.calls()).not.toHaveProperty('UpdateCommand');
    await run(idle, { functionName: 'renamed' });
    expect(await findReconcilerRun()).toMatchObject({ functionName: 'renamed' });
  });

  test('goes on while a task is open, and ends once it has finished', async () => {
    const id = givenWaiting(5);
    const { recorded, routes } = aTaskProvider({ finishesAt: 20 });

    // Two ticks without open work come after the end of the last.
    expect(await run(routes)).toBe(28);

    expect(recorded.queriedAt).toEqual([4, 6, 8, 10, 12, 14, 16, 18, 20]);
    expect(executions.woken.map(({ taskToken }) => taskToken)).toEqual([id]);
    expect(dueKeyOf(id)).toEqual(listed('CHECK', 320, id));
  });

  test('lists an open request once, at its end, and writes nothing else than that it is alive', async () => {
    const id = givenWaiting(-1);
    const { recorded, routes } = aTaskProvider();
    const dueKeys = new Set<unknown>();
    memory.beforeCall = () => dueKeys.add(dueKeyOf(id).GSI1SK);

    expect(await run(routes)).toBe(END);

    // At this age the pause is 2.9 s.
    expect(recorded.queriedAt.at(-1)).toBe(58);
    expect([...dueKeys]).toEqual([at(-1)]);
    expect(dueKeyOf(id)).toEqual(listed('CHECK', 60.9, id));
    // The name, the start, 29 ticks, the end, and the request.
    expect(memory.calls()).toMatchObject({ UpdateCommand: 1 + 1 + 29 + 1 + 1 });
    expect(memory.calls()).not.toHaveProperty('PutCommand');
    const reads = memory.client.commandCalls(QueryCommand).map(({ args }) => args[0].input);
    // It is read once, however often it is queried.
    expect(reads.filter((read) => JSON.stringify(read).includes('REQUEST#'))).toHaveLength(1);
    // Requests without an execution are looked for every 10 s.
    expect(reads.filter((read) => JSON.stringify(read).includes('DUE#START'))).toHaveLength(6 * DUE_SHARDS);
  });

  test('looks for work once more after it has ended its own: a request that began to wait just before is found', async () => {
    const first = givenWaiting(-1);
    const { routes } = aTaskProvider({ finishesAt: 0 });
    let second = '';
    const alive = async () => ((await findReconcilerRun())?.aliveUntilMs ?? 0) > Date.now();
    memory.client.on(UpdateCommand, { Key: RECONCILER_RUN_KEY }, false).callsFake(async (input) => {
      const isOver = input.ExpressionAttributeValues[':until'] === Date.now();
      // The request began to wait while the run counted as alive, and starts no run.
      if (isOver && second === '' && (await alive())) second = givenWaiting(elapsed());
      return memory.update(input);
    });

    expect(await run(routes)).toBe(12);

    expect(executions.woken.map(({ taskToken }) => taskToken)).toEqual([first, second]);
    expect(await alive()).toBe(false);
  });

  test('renews itself each tick, for 10 s', async () => {
    givenWaiting(-1);
    const running = beginRun(idle);
    const alive: unknown[] = [];
    for (const second of [1, 21, 41]) {
      void wait(second).then(async () => {
        alive.push(((await findReconcilerRun())?.aliveUntilMs ?? 0) - NOW.getTime());
      });
    }
    await passing(running);

    expect(alive).toEqual([10_000, 30_000, 50_000]);
  });

  test.each([
    [60, [0]],
    [20, [0, 20, 40]],
    [10, [0, 10, 20, 30, 40, 50]],
  ])(
    'with a schedule of every %p s looks for work at these seconds when nothing is open: %j',
    async (everySeconds, seconds) => {
      const reads: number[] = [];
      const first = { ':partition': duePartition('CHECK', 0) };
      memory.client.on(QueryCommand, { ExpressionAttributeValues: first }, false).callsFake(async () => {
        reads.push(elapsed());
        await wait(4);
        return { Items: [] };
      });

      await run(idle, { everySeconds });
      expect(reads).toEqual(seconds);
    },
  );
});

test('a run ends early when the only item that the index showed is due after its end by now', async () => {
  const id = givenWaiting(-1);
  const later = listed('CHECK', 300, id);
  const shown = { ...memory.get(requestKey(id)) };
  const partition = { ':partition': shown.GSI1PK };
  // The index is behind.
  memory.client
    .on(QueryCommand, { IndexName: 'GSI1', ExpressionAttributeValues: partition }, false)
    .callsFake(async () => ({ Items: elapsed() < 2 ? [shown] : [] }));
  memory.patch(requestKey(id), later);

  expect(await run(idle)).toBeLessThan(10);

  expect(dueKeyOf(id)).toEqual(later);
});

describe('two runs', () => {
  test('follow each other: the newer takes over, and the older ends at its next tick and lists nothing', async () => {
    const id = givenWaiting(-1);
    const { recorded, routes } = aTaskProvider();
    const dueKeys: unknown[] = [];
    const older = beginRun(routes).finally(() => dueKeys.push(dueKeyOf(id)));
    const newer = wait(31).then(() => beginRun(routes));

    const ends = await passing(Promise.all([older, newer]));

    expect(ends).toEqual([32, 90]);
    expect(dueKeys).toEqual([listed('CHECK', -1, id)]);
    // The older's last query is at 30 s. The newer does not query in its first tick, at 31 s.
    expect(recorded.queriedAt.slice(14, 18)).toEqual([28, 30, 33, 35]);
    expect(dueKeyOf(id).GSI1SK).toBe(at(93.45));
  });

  test('follow each other at the end of the older, which then lists nothing', async () => {
    const id = givenWaiting(-1);
    const older = beginRun(idle);
    // After the last tick of the older.
    const newer = wait(58.5).then(() => beginNewest('newer', 'reconcile', systemClock.now()));

    expect((await passing(Promise.all([older, newer])))[0]).toBe(END);

    expect(dueKeyOf(id)).toEqual(listed('CHECK', -1, id));
    expect(await findReconcilerRun()).toMatchObject({ runId: 'newer', isOver: false });
  });

  test('are not at work together: the older begins no query that waits for its turn', async () => {
    for (let count = 0; count < 20; count++) givenWaiting(-1);
    const { recorded, routes } = aTaskProvider({ takes: 10, answer: { kind: 'busy', reason: 'it hangs' } });
    const older = beginRun(routes);
    const newer = wait(5).then(() => beginRun(idle));

    await passing(Promise.all([older, newer]));

    // The older is told at its tick at 6 s. Its first four queries end at 10 s.
    expect(recorded.queriedAt.map(Math.floor)).toEqual([0, 0, 0, 0]);
  });

  test('are not at work together: the older begins no check that waits for its turn', async () => {
    for (let count = 0; count < 60; count++) given(-100);
    const checkedAt: number[] = [];
    executions.client.on(DescribeExecutionCommand).callsFake(async () => {
      checkedAt.push(elapsed());
      await wait(10);
      return { status: 'RUNNING' };
    });
    const older = beginRun(idle);
    // Another process has begun a run and died.
    const newer = wait(5).then(() => beginNewest('newer', 'reconcile', systemClock.now()));

    await passing(Promise.all([older, newer]));

    expect(checkedAt).toEqual(Array(40).fill(0));
  });

  test('that begin at once leave the work to the newer one', async () => {
    givenWaiting(-1);
    const { recorded, routes } = aTaskProvider({ finishesAt: 10 });

    const ends = await passing(Promise.all([beginRun(routes), beginRun(routes)]));

    expect(ends.toSorted((one, other) => one - other)[0]).toBe(2);
    expect(recorded.queriedAt.length).toBeLessThanOrEqual(7);
    expect(executions.woken).toHaveLength(1);
  });

  test('share nothing: one that had found nothing more leaves new work to the other', async () => {
    givenWaiting(-1);
    const { routes } = aTaskProvider({ finishesAt: 0 });
    const older = beginRun(routes);
    const second = aTaskProvider();
    const newer = wait(3).then(() => {
      givenWaiting(3);
      return beginRun(second.routes);
    });

    expect((await passing(Promise.all([older, newer])))[0]).toBe(4);
    expect(second.recorded.queriedAt[0]).toBe(3);
  });
});
