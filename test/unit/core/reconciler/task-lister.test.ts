import { describe, expect, jest, test } from '@jest/globals';
import type { InTurn, TaskListing } from '../../../../core/provider-calls/providers.ts';
import type { Kept } from '../../../../core/reconciler/due-work.ts';
import { TaskLister } from '../../../../core/reconciler/task-lister.ts';
import { requestKey } from '../../../../core/table/keys.ts';
import { NOW } from '../../builders/clocks.ts';
import { aProvider } from '../../builders/providers.ts';
import { listed } from '../../builders/reconciling.ts';

const START = NOW.getTime();

/**
 * A lister of some kept items, each with a task of its name, whose next checks are so many milliseconds after the start. Time passes only while
 * the lister pauses. `told` is the listing by its number, with the unfinished tasks; a check sets the item's next check `againMs` later.
 */
const aLister = (
  items: Record<string, number>,
  told: (number: number) => Partial<TaskListing & { kind: 'listed' }> | TaskListing,
  { againMs = (): number => 100_000, calls = 1, endMs = 60_000 } = {},
) => {
  let [nowMs, pauses] = [START, 0];
  const [lists, checks]: [number[], [name: string, isNamed: boolean, afterMs: number][]] = [[], []];
  const list = jest.fn(async (ids: readonly string[], inTurn: InTurn) => {
    lists.push(nowMs - START);
    for (let call = 0; call < calls; call++) await inTurn(async () => undefined);
    return {
      kind: 'listed',
      unfinished: new Set(ids),
      isComplete: true,
      ...told(lists.length),
    } as TaskListing;
  });
  const provider = { ...aProvider('asynchronous', 1), list };
  const kept = Object.entries(items).map(([name, afterMs]): Kept & { name: string } => {
    const due = { key: requestKey(name), dueKey: listed('CHECK', 0, name), list: 'CHECK' } as const;
    const found = async () => ({ kind: 'done' }) as const;
    const rest = { id: provider.id, act: found, listed: { provider, taskIds: [name], found } };
    const work = { kind: 'request', requestId: name } as const;
    return { name, due: { ...due, work }, nextMs: START + afterMs, isBeingChecked: false, rest };
  });
  const lister = new TaskLister(provider, {
    nowMs: () => nowMs,
    keepGoing: () => nowMs < START + endMs,
    pause: async (milliseconds) => {
      if (pauses++ > 1_000) throw new Error('It lists for ever.');
      nowMs += milliseconds;
    },
    kept: () => kept.filter(({ isBeingChecked }) => !isBeingChecked),
    check: async (one, isNamed) => {
      const { name } = one as (typeof kept)[number];
      checks.push([name, isNamed, nowMs - START]);
      one.nextMs = nowMs + againMs();
      return true;
    },
    during: (call) => call(),
    perSecond: 10,
  });
  return { lister, kept, lists, checks, pass: (milliseconds: number) => (nowMs += milliseconds) };
};
const [FIRST_MS, LIST_MS] = [400, 1_000];

describe('a lister', () => {
  test.each([
    ['three tasks are due within a second', LIST_MS, [FIRST_MS]],
    ['fewer are', LIST_MS + 1, []],
  ])('lists when %s', async (_, thirdMs, expected) => {
    const { lister, lists } = aLister({ a: 0, b: 0, c: FIRST_MS + thirdMs }, () => ({}), { endMs: 1_000 });

    await lister.work();

    expect(lists).toEqual(expected);
  });

  test('queries two tasks one by one, each up to half a second before it is due', async () => {
    const { lister, checks } = aLister({ a: 900, b: 901, c: 90_000 }, () => ({}), { endMs: 1_000 });

    await lister.work();

    expect(checks).toEqual([['a', false, FIRST_MS]]);
  });

  test('takes no more than a quarter of the calls of its account, and lists once a second at most', async () => {
    const every = async (calls: number): Promise<number[]> => {
      const { lister, lists } = aLister({ a: 0, b: 0, c: 0 }, () => ({}), {
        ...{ calls, againMs: () => 0, endMs: 10_000 },
      });
      await lister.work();
      return lists.slice(0, 3).map((startedMs) => startedMs - FIRST_MS);
    };

    expect(await every(1)).toEqual([0, 1_000, 2_000]);
    expect(await every(5)).toEqual([0, 2_000, 4_000]);
  });

  test('leaves an item alone whose check began during the list', async () => {
    const { lister, kept, checks } = aLister(
      { a: 0, b: 0, c: 0 },
      () => {
        Object.assign(kept[0] ?? {}, { isBeingChecked: true });
        return {};
      },
      { endMs: 1_000 },
    );

    await lister.work();

    expect(checks.map(([name]) => name)).toEqual(['b', 'c']);
  });

  test('queries a task that an incomplete list does not name when it is due, and not before', async () => {
    const { lister, checks } = aLister(
      { a: 900, b: 901, c: 0 },
      () => ({ unfinished: new Set(), isComplete: false }),
      { endMs: 1_000 },
    );

    await lister.work();

    expect(checks).toEqual([
      ['a', false, FIRST_MS],
      ['c', false, FIRST_MS],
    ]);
  });

  test('leaves a task that no list names, and that a query found unfinished, to a list after 15 s', async () => {
    let rounds = 0;
    // All are due until the second list. From then on, nothing else is due to be listed for.
    const { lister, checks } = aLister(
      { a: 0, b: 0, c: 0, hidden: 0 },
      (number) => {
        rounds = number;
        return { unfinished: new Set(['a', 'b', 'c']) };
      },
      { againMs: () => (rounds === 1 ? LIST_MS : 100_000), endMs: 20_000 },
    );

    await lister.work();

    const queried = checks.filter(([name]) => name === 'hidden').map(([, , afterMs]) => afterMs - FIRST_MS);
    // Alone, two seconds after the list that did not come.
    expect(queried).toEqual([0, 17_000]);
  });
});

describe('after a list that failed, a lister leaves its tasks to single queries', () => {
  test.each<[string, TaskListing, number]>([
    ['for 10 s where the provider is too busy', { kind: 'busy' }, 10_000],
    ['for 10 s at least', { kind: 'busy', retryAfterSeconds: 5 }, 10_000],
    ['for as long as the provider asks', { kind: 'busy', retryAfterSeconds: 30 }, 30_000],
    ['for a minute at most', { kind: 'busy', retryAfterSeconds: 3_600 }, 60_000],
  ])('%s', async (_, listing, pauseMs) => {
    const { lister, lists, pass } = aLister({ a: 0, b: 0, c: 0 }, () => listing);
    const areTaken = () => [lister.hasEnough(), lister.takes(['a', 'b', 'c'])];
    expect(areTaken()).toEqual([true, true]);

    await lister.work();

    expect(lists).toEqual([FIRST_MS]);
    // The lister has paused for a second since.
    pass(pauseMs - LIST_MS - 1);
    expect(areTaken()).toEqual([false, false]);
    pass(1);
    expect(areTaken()).toEqual([true, true]);
  });

  test('for good where the provider lists nothing', async () => {
    const { lister, pass } = aLister({ a: 0, b: 0, c: 0 }, () => ({ kind: 'refused' }));

    await lister.work();
    pass(100 * 86_400_000);

    expect(lister.hasEnough()).toBe(false);
  });
});
