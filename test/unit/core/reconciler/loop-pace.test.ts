import { describe, expect, test } from '@jest/globals';
import type { ProviderRouteOf } from '../../../../core/provider-calls/providers.ts';
import { requestKey } from '../../../../core/table/keys.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { aDone } from '../../builders/providers.ts';
import { at, dueKeyOf, executions, givenWaiting, listed, memory } from '../../builders/reconciling.ts';
import { run } from '../../builders/runs.ts';
import { aTaskProvider } from './a-run.ts';

const queriesWith = (limits: object) => ({
  MODEL_ROUTES: JSON.stringify({ 'xSD4.5': { provider: 'modelark', upstreamModel: 'seedream', ...limits } }),
});

describe('queries of one provider', () => {
  test('are four at once and ten a second, the longest due first', async () => {
    const ids = Array.from({ length: 30 }, (_, index) => givenWaiting(index - 30));
    const { routes, recorded } = aTaskProvider({ takes: 0.2, answer: aDone('a') });

    await run(routes);

    expect(recorded.taskIds).toEqual(ids);
    expect(recorded.most).toBeLessThanOrEqual(4);
    const seconds = recorded.queriedAt;
    expect(seconds.at(-1)).toBeCloseTo(2.9, 5);
    for (const [index, second] of seconds.slice(10).entries())
      expect(second - (seconds[index] ?? 0)).toBeGreaterThanOrEqual(1 - 1e-9);
  });

  test.each([
    ['four', {}, 4],
    ['as many as its route says', { queriesAtOnce: 9, queriesPerSecond: 100 }, 9],
  ])('are %s at once when it is slow', async (_, limits, most) => {
    for (let count = 0; count < 20; count++) givenWaiting(-1);
    const { routes, recorded } = aTaskProvider({ takes: 5 });

    await withEnvironment(queriesWith(limits), () => run(routes));

    expect(recorded.most).toBe(most);
  });

  test('are as many a second as its route says', async () => {
    for (let count = 0; count < 6; count++) givenWaiting(-1);
    const { routes, recorded } = aTaskProvider({ takes: 0.1, answer: aDone('a') });

    await withEnvironment(queriesWith({ queriesPerSecond: 0.5 }), () => run(routes));

    expect(recorded.queriedAt).toEqual([0, 2, 4, 6, 8, 10]);
  });
});

describe('a provider that hangs', () => {
  test('does not delay the queries of another', async () => {
    for (let count = 0; count < 100; count++) givenWaiting(-300);
    const other = givenWaiting(0);
    memory.patch(requestKey(other), { model: 'other' });
    const { provider } = aTaskProvider({ takes: 10, answer: { kind: 'busy', reason: 'it hangs' } });
    const answers = aTaskProvider({ finishesAt: 0 });
    const routeOf: ProviderRouteOf = async (model) => ({
      provider: model === 'other' ? { ...answers.provider, id: 'modelstudio' } : provider,
      upstreamModel: model,
    });

    await run(routeOf);

    expect(executions.woken.map(({ taskToken }) => taskToken)).toEqual([other]);
    expect(answers.recorded.queriedAt).toEqual([0]);
  });

  test('is not queried after the end of the run: what was not reached is first in the next run', async () => {
    const ids = Array.from({ length: 50 }, (_, index) => givenWaiting(index - 50));
    const { routes, recorded } = aTaskProvider({ takes: 10, answer: { kind: 'busy', reason: 'it hangs' } });

    const end = await run(routes);

    expect(recorded.taskIds).toEqual(ids.slice(0, 24));
    expect(end).toBeLessThan(68);
    for (const [index, id] of ids.entries()) {
      if (index >= 24) expect(dueKeyOf(id)).toEqual(listed('CHECK', index - 50, id));
      else expect(String(dueKeyOf(id).GSI1SK) > at(0)).toBe(true);
    }
  });
});

describe('at the end of a run', () => {
  test('a task that comes to be due is queried, and is listed for its next query', async () => {
    const id = givenWaiting(57.9);
    const { routes, recorded } = aTaskProvider({ takes: 0.5 });

    const end = await run(routes);

    expect(recorded).toMatchObject({ taskIds: [id], queriedAt: [58] });
    expect(end).toBe(59);
    // Its call began 58.5 s ago.
    expect(dueKeyOf(id)).toEqual(listed('CHECK', 61.425, id));
  });
});
