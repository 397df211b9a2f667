import { beforeAll, describe, expect, test } from '@jest/globals';
import { type Answer, refusal } from './support/answers.ts';
import { type Caller, newCallerWithDefaultLimits, setLimits, sharedService } from './support/client.ts';
import { type LocalService, ops } from './support/local-service.ts';

let service: LocalService;
beforeAll(async () => {
  service = await sharedService();
});

const newLimitedCaller = async (requestsPerSecond: number, burst: number): Promise<Caller> => {
  const caller = await newCallerWithDefaultLimits(service);
  await setLimits(caller, requestsPerSecond, burst);
  return caller;
};
const retryAfter = ({ headers }: Answer<unknown>): number => Number(headers.get('retry-after'));
/**
 * Sends the first request alone, to fill the bucket, and the rest at once. Concurrent requests may arrive a few
 * milliseconds out of order, and the last answer of a burst depends on the order.
 */
const atOnce = async (caller: Caller, count: number, path = '/v1/balance') => [
  await caller.get(path),
  ...(await Promise.all(Array.from({ length: count - 1 }, () => caller.get(path)))),
];
const statuses = (answers: Answer<unknown>[]) => answers.map(({ status }) => status).sort();

/** Too slow to refill anything during a test. */
const ONE_IN_1000_SECONDS = 0.001;

describe('The rate limit', () => {
  // The pace of a bucket is tested in test/unit/core/accounts/consume-api-key.test.ts.
  test('allows a burst of exactly what is set', async () => {
    const burst = 5;
    const caller = await newLimitedCaller(ONE_IN_1000_SECONDS, burst);

    const answers = await atOnce(caller, burst + 5);

    expect(statuses(answers)).toEqual([...Array(burst).fill(200), ...Array(5).fill(429)]);
  });

  test('refuses with 429 and a Retry-After in whole seconds', async () => {
    const caller = await newLimitedCaller(0.05, 2);
    await atOnce(caller, 2);

    const refused = await caller.get('/v1/balance');

    expect(refusal(refused)).toEqual([429, 'rate_limited']);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(retryAfter(refused)).toBeGreaterThanOrEqual(1);
    expect(retryAfter(refused)).toBeLessThanOrEqual(20);
  });

  test('changes with the next request after the operator sets it, starting from a full bucket', async () => {
    const caller = await newLimitedCaller(ONE_IN_1000_SECONDS, 1);
    await atOnce(caller, 2);
    expect((await caller.get('/v1/balance')).status).toBe(429);

    const set = await setLimits(caller, 0.002, 3);

    expect(set).toEqual({ accountId: caller.accountId, limits: { requestsPerSecond: 0.002, burst: 3 } });
    const account = await ops(service, 'accounts', 'show', '--account', caller.accountId);
    expect(account).toMatchObject({ limits: set.limits });
    expect(statuses(await atOnce(caller, 5))).toEqual([200, 200, 200, 429, 429]);
  });
});
