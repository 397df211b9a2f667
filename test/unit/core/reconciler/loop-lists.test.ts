import { describe, expect, jest, test } from '@jest/globals';
import type { InTurn, ProviderAnswer, TaskListing } from '../../../../core/provider-calls/providers.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { aDone, leadingTo } from '../../builders/providers.ts';
import { at, dueKeyOf, executions, givenWaiting } from '../../builders/reconciling.ts';
import { elapsed, run, wait } from '../../builders/runs.ts';
import { aTaskProvider, counted, logged } from './a-run.ts';

/** What a list tells at a second, given the tasks that have not ended by then. */
type Told = (second: number, unfinished: string[]) => Partial<TaskListing & { kind: 'listed' }> | TaskListing;

/**
 * A provider that lists its tasks, and calls nobody back. Tasks end at their second, or never. It records when each task was queried, and when
 * lists were asked for.
 */
const aListingProvider = ({
  endsAt = {} as Record<string, number>,
  told = (() => ({})) as Told,
  answer = undefined as ProviderAnswer | undefined,
  calls = 2,
} = {}) => {
  const { provider } = aTaskProvider();
  const queried: [taskId: string, second: number][] = [];
  const listed: number[] = [];
  const isOpen = (id: string): boolean => elapsed() < (endsAt[id] ?? Number.POSITIVE_INFINITY);
  provider.query.mockImplementation(async (taskId) => {
    queried.push([taskId, elapsed()]);
    return isOpen(taskId) ? { kind: 'waiting' } : (answer ?? aDone('a'));
  });
  const list = jest.fn(async (ids: readonly string[], inTurn: InTurn): Promise<TaskListing> => {
    listed.push(elapsed());
    await Promise.all(Array.from({ length: calls }, () => inTurn(() => wait(0.1))));
    const unfinished = ids.filter(isOpen);
    return {
      kind: 'listed',
      unfinished: new Set(unfinished),
      isComplete: true,
      ...told(elapsed(), unfinished),
    } as TaskListing;
  });
  const own = { ...provider, id: 'modelstudio' as const, callsBack: () => false, list };
  return { routes: leadingTo(own), queried, listed, list };
};
/** The queries after the first two of a run, which are of any tasks: a run that knows fewer than three tasks does not list them. */
const laterQueries = (queried: [taskId: string, second: number][], id: string): number[] =>
  queried.filter(([one, second]) => one === id && second > 0.5).map(([, second]) => second);
const given = (count: number): string[] => Array.from({ length: count }, () => givenWaiting(0));

describe('tasks of a provider that lists them', () => {
  test('are queried once each, when the list does not name them any more', async () => {
    const ids = given(8);
    const endsAt = Object.fromEntries(ids.map((id, index) => [id, 5 + index]));
    const { routes, queried } = aListingProvider({ endsAt });

    await run(routes);

    // Three tasks are left when the fifth has ended: the last ones are queried one by one.
    for (const id of ids.slice(0, 5)) {
      const seconds = laterQueries(queried, id);
      expect(seconds).toHaveLength(1);
      expect((seconds[0] ?? 0) - (endsAt[id] ?? 0)).toBeLessThan(2.5);
    }
    expect(executions.woken).toHaveLength(8);
  });

  test('are queried one by one while they are two', async () => {
    given(2);
    const { routes, listed, queried } = aListingProvider();

    await run(routes);

    expect(listed).toEqual([]);
    expect(queried.length).toBeGreaterThan(2);
  });

  test('are written back to their list for the next run', async () => {
    const [id = ''] = given(3);
    const { routes } = aListingProvider();

    await run(routes);

    expect(String(dueKeyOf(id).GSI1SK) > at(58)).toBe(true);
  });

  test('that no list names are queried alone, and then every 15 s', async () => {
    const ids = given(6);
    const [hidden = ''] = ids.slice(-1);
    const { routes, queried } = aListingProvider({
      told: (_, unfinished) => ({ unfinished: new Set(unfinished.filter((id) => id !== hidden)) }),
    });

    await run(routes);

    const seconds = laterQueries(queried, hidden);
    expect(seconds.length).toBeGreaterThanOrEqual(3);
    expect(seconds.length).toBeLessThanOrEqual(5);
    for (const [index, second] of seconds.slice(1).entries())
      expect(second - (seconds[index] ?? 0)).toBeGreaterThan(14.5);
  });

  test('that the list names late are seen when it does not any more', async () => {
    const ids = given(6);
    const [ended = ''] = ids.slice(-1);
    const { routes, queried } = aListingProvider({
      endsAt: { [ended]: 5 },
      told: (second, unfinished) => ({
        unfinished: new Set(second < 12 ? [...unfinished, ended] : unfinished),
      }),
    });

    await run(routes);

    expect(laterQueries(queried, ended)).toEqual([expect.closeTo(13, -1)]);
    expect(executions.woken.map(({ taskToken }) => taskToken)).toEqual([ended]);
  });

  test('that a list names again after a query are queried as soon as it does not any more', async () => {
    const ids = given(6);
    const [ended = ''] = ids.slice(-1);
    const { routes, queried } = aListingProvider({
      endsAt: { [ended]: 8 },
      told: (second, unfinished) => ({
        unfinished: new Set(unfinished.filter((id) => id !== ended || second > 3)),
      }),
    });

    await run(routes);

    const seconds = queried.filter(([id]) => id === ended).map(([, second]) => second);
    expect(seconds.filter((second) => second < 8).length).toBeGreaterThan(0);
    expect(seconds.filter((second) => second >= 8)).toHaveLength(1);
    expect(Math.max(...seconds)).toBeLessThan(10.5);
  });

  test('are queried again soon when a query of an ended task was not answered', async () => {
    const ids = given(6);
    const [ended = ''] = ids.slice(-1);
    const { routes, queried } = aListingProvider({
      endsAt: { [ended]: 5 },
      answer: { kind: 'busy', reason: 'it is busy' },
    });

    await run(routes);

    const seconds = queried.filter(([id, second]) => id === ended && second > 4).map(([, second]) => second);
    expect((seconds[1] ?? 0) - (seconds[0] ?? 0)).toBeLessThan(4);
  });

  test.each<[string, TaskListing, most: number]>([
    ['is too busy', { kind: 'busy' }, 6],
    ['is too busy for an hour', { kind: 'busy', retryAfterSeconds: 3600 }, 1],
    ['lists nothing', { kind: 'refused' }, 1],
  ])('are queried one by one where it %s', async (_, listing, most) => {
    const ids = given(6);
    const endsAt = Object.fromEntries(ids.map((id) => [id, 20]));
    const { routes, listed, queried } = aListingProvider({ endsAt, told: () => listing });

    await run(routes);

    expect(listed.length).toBeGreaterThanOrEqual(1);
    expect(listed.length).toBeLessThanOrEqual(most);
    expect(executions.woken).toHaveLength(6);
    expect(Math.max(...queried.map(([, second]) => second))).toBeLessThan(40);
  });

  test('beyond what was read of the list are queried one by one', async () => {
    const ids = given(6);
    const endsAt = Object.fromEntries(ids.map((id) => [id, 20]));
    const { routes } = aListingProvider({
      endsAt,
      told: () => ({ unfinished: new Set(), isComplete: false }),
    });

    await run(routes);

    expect(executions.woken).toHaveLength(6);
  });

  test('are listed with a quarter of the calls of the account', async () => {
    given(6);
    const { routes, listed } = aListingProvider({ calls: 4 });
    const MODEL_ROUTES = JSON.stringify({
      'xSD4.5': { provider: 'modelstudio', upstreamModel: 'a', queriesAtOnce: 10, queriesPerSecond: 4 },
    });

    await withEnvironment({ MODEL_ROUTES }, () => run(routes));

    for (const [index, second] of listed.slice(1).entries())
      expect(second - (listed[index] ?? 0)).toBeGreaterThanOrEqual(3.9);
  });

  test('are not listed further once a run is over, though pages are left: that is no error', async () => {
    given(3);
    const { routes, list } = aListingProvider();
    const pagesAt: number[] = [];
    list.mockImplementation(async (_, inTurn) => {
      for (let page = 0; page < 500; page++) await inTurn(async () => pagesAt.push(elapsed()));
      return { kind: 'refused' };
    });

    await run(routes, { runMs: 10_000 });

    expect(pagesAt.length).toBeGreaterThan(80);
    expect(Math.max(...pagesAt)).toBeLessThan(10);
    expect(logged).not.toHaveBeenCalled();
  });

  test('are queried one by one after an error of their list, which is logged and counted', async () => {
    const ids = given(3);
    const error = new Error('a fault of ours');
    const { routes, list } = aListingProvider({ endsAt: Object.fromEntries(ids.map((id) => [id, 5])) });
    list.mockRejectedValueOnce(error).mockResolvedValue({ kind: 'refused' });

    await run(routes);

    expect(executions.woken).toHaveLength(3);
    expect(logged).toHaveBeenCalledWith('the reconciler failed at something', { error });
    expect(counted()).toContainEqual(['ReconcileFailed', {}]);
  });

  test('are left to a newer run', async () => {
    given(6);
    const { routes, listed } = aListingProvider();

    const end = await run(routes, { runMs: 10_000 });

    expect(end).toBeLessThan(12);
    expect(Math.max(...listed)).toBeLessThan(10);
  });
});

test('lists of tasks do not keep a run from its end, however seldom they may come', async () => {
  given(3);
  const { routes, listed } = aListingProvider({ calls: 60 });

  expect(await run(routes)).toBe(59);
  expect((listed[1] ?? 0) - (listed[0] ?? 0)).toBeGreaterThan(10);
});
