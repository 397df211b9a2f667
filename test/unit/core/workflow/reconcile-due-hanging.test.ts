import '../../builders/environment.ts';
import { StartExecutionCommand } from '@aws-sdk/client-sfn';
import { describe, expect, test } from '@jest/globals';
import type { ProviderRouteOf } from '../../../../core/provider-calls/providers.ts';
import { requestKey } from '../../../../core/table/keys.ts';
import { reconcileDue } from '../../../../core/workflow/reconcile-due.ts';
import { atSeconds } from '../../builders/clocks.ts';
import { aDone, leadingTo } from '../../builders/providers.ts';
import { at, executions, given, givenWaiting, memory, placeOf } from '../../builders/reconciling.ts';
import { answering } from '../../builders/waiting-request.ts';

describe('a provider that hangs', () => {
  const hanging = (seconds: number) => {
    let [atOnce, most] = [0, 0];
    let now = atSeconds(seconds).getTime();
    const clock = { now: () => new Date(now) };
    // Four at once take 10 s each.
    const provider = answering(async () => {
      most = Math.max(most, ++atOnce);
      await new Promise(setImmediate);
      atOnce--;
      now += 2_500;
      return { kind: 'busy', reason: 'it hangs' };
    });
    return { provider, clock, most: () => most };
  };

  test('is queried four times at once, and what is not reached is first in the next run', async () => {
    const ids = Array.from({ length: 400 }, (_, index) => givenWaiting(index - 400));
    const { provider, clock, most } = hanging(0);
    const stopAt = atSeconds(55);

    await reconcileDue(leadingTo(provider), () => clock.now() < stopAt, clock);

    const queried = provider.query.mock.calls.map(([taskId]) => taskId);
    expect(most()).toBe(4);
    expect(queried.length).toBeGreaterThanOrEqual(20);
    expect(queried.length).toBeLessThanOrEqual(28);
    expect(queried).toEqual(ids.slice(0, queried.length));
    for (const [index, id] of ids.entries()) {
      const place = String(placeOf(id).GSI1SK);
      if (index < queried.length) expect(place > at(300)).toBe(true);
      else expect(place).toBe(at(index - 400));
    }
  });

  test.each([
    ['during a run', 1, 55],
    ['after the last look of a run', 10, 60],
  ])('does not delay a request that comes to be due %s', async (_, createdAt, startedBy) => {
    for (let count = 0; count < 100; count++) givenWaiting(-300);
    const requestId = given(createdAt);
    let current = atSeconds(0);
    const startedAt: Date[] = [];
    executions.client.on(StartExecutionCommand).callsFake(async (input) => {
      startedAt.push(current);
      executions.put('generation', input.name, 'RUNNING');
      return {};
    });

    for (const minute of [0, 1]) {
      const { provider, clock } = hanging(minute * 60);
      const stopAt = atSeconds(minute * 60 + 55);
      const reading = { now: () => (current = clock.now()) };
      await reconcileDue(leadingTo(provider), () => clock.now() < stopAt, reading);
    }

    expect(executions.names('generation')).toContain(requestId);
    expect(startedAt).toHaveLength(1);
    expect(startedAt[0]?.getTime()).toBeLessThanOrEqual(atSeconds(startedBy).getTime());
  });

  test('does not delay the queries of another', async () => {
    for (let count = 0; count < 100; count++) givenWaiting(-300);
    const other = givenWaiting(0);
    memory.patch(requestKey(other), { model: 'other' });
    const { provider, clock } = hanging(0);
    const answers = { ...answering(aDone('a')), id: 'modelstudio' as const };
    const routeOf: ProviderRouteOf = async (model) => ({
      provider: model === 'other' ? answers : provider,
      upstreamModel: model,
    });
    const stopAt = atSeconds(20);

    await reconcileDue(routeOf, () => clock.now() < stopAt, clock);

    expect(executions.woken.map(({ taskToken }) => taskToken)).toEqual([other]);
  });
});
