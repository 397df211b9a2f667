import { expect, test } from '@jest/globals';
import { routeLimitKey } from '../../../../core/table/keys.ts';
import { NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, REQUEST_ID } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { aDone, aProvider } from '../../builders/providers.ts';
import { ASSIGNED, given, memory, run, withFakedTimers } from './a-dispatch.ts';

const { clock, pass } = withFakedTimers();
const ROUTE = { provider: 'modelark', upstreamModel: 'upstream of xQI3Pro', requestsPerSecond: 0.5 };
const LIMIT = routeLimitKey(`${ROUTE.provider}/${ROUTE.upstreamModel}`);

/** Dispatches three calls at a route of a call each two seconds. Returns when they were made, in seconds. */
const dispatch = (): Promise<number[]> =>
  withEnvironment({ MODEL_ROUTES: JSON.stringify({ xQI3Pro: ROUTE }) }, async () => {
    given({ images: 3, assignment: { ...ASSIGNED, route: `${ROUTE.provider}/${ROUTE.upstreamModel}` } });
    const madeAt: number[] = [];
    const provider = aProvider('synchronous', 3, async () => {
      madeAt.push((clock().now().getTime() - NOW.getTime()) / 1000);
      return aDone('a');
    });
    const running = run(provider, clock());
    await pass(10);
    await running;
    return madeAt;
  });

test('the calls of one request are made at the rate of their route', async () => {
  expect(await dispatch()).toEqual([0, 2, 4]);
});

test('the permit of a request that waited ends when its calls begin', async () => {
  const permit = { accountId: ACCOUNT_ID, weight: 3, takenMs: NOW.getTime() };
  memory.put(LIMIT, { used: 3, [`permit#${REQUEST_ID}`]: permit });

  expect(await dispatch()).toEqual([0, 2, 4]);
  expect(memory.get(LIMIT)).toMatchObject({ used: 0 });
  expect(memory.get(LIMIT)).not.toHaveProperty([`permit#${REQUEST_ID}`]);
});
