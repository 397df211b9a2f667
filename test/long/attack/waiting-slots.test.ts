import '../../unit/builders/environment.ts';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { requestKey } from '../../../core/table/keys.ts';
import { ApiRequest } from '../../../functions/http/api-request.ts';
import { makeImages } from '../../../functions/openai/make-images.ts';
import { readImageBody } from '../../../functions/openai/read-calls.ts';
import { anApiEvent } from '../../unit/builders/api-events.ts';
import { aCaller } from '../../unit/builders/callers.ts';
import { NOW } from '../../unit/builders/clocks.ts';
import { EMAIL } from '../../unit/builders/entities.ts';
import { withEnvironment } from '../../unit/builders/environment.ts';
import { stopTime } from '../../unit/builders/stop-time.ts';
import { executions, memory, reset, send } from './service.ts';

const ENDPOINT = { name: 'create-openai-image', read: readImageBody } as const;
const accountOf = (index: number) => `acc_01JD4KXQ8M${String(index).padStart(16, '0')}`;
/** Enough for one image alone: equal calls need no more. */
const LITTLE = { balanceThousandths: 6_000 };

beforeEach(() => {
  reset();
  stopTime(NOW);
});

/** The calls that wait for images that never come, by account, and the outcomes of the remaining calls. */
const waiting = new Map<string, number>();
const attack = async (accountId: string, count: number, requestOf: (index: number) => object) => {
  const { headers } = await aCaller(memory, { account: { accountId, ...LITTLE } });
  waiting.set(accountId, 0);
  const outcomes = Array.from({ length: count }, (_, index) => {
    const { body, ...own } = requestOf(index) as { body: object; headers?: object };
    const event = anApiEvent({ body, headers: { ...headers, ...own.headers } });
    const wait = Promise.withResolvers<string>();
    const sleep = () => {
      waiting.set(accountId, (waiting.get(accountId) ?? 0) + 1);
      wait.resolve('waits');
      return new Promise<never>(() => undefined);
    };
    const call = makeImages(new ApiRequest(event, NOW), ENDPOINT, { now: () => NOW, sleep });
    const ended = call.then(
      ({ statusCode }) => String(statusCode),
      ({ code }) => code as string,
    );
    return Promise.race([ended, wait.promise]);
  });
  const counts: Record<string, number> = {};
  for (const outcome of await Promise.all(outcomes)) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
};
const bodyOf = (index: number) => ({ model: 'xZI1.0Pro', prompt: `attack ${index}`, user: EMAIL });

describe('an account that sends 300 calls at once', () => {
  test.each<[string, (index: number) => object]>([
    [
      'for one image with an Idempotency-Key',
      () => ({ body: bodyOf(0), headers: { 'Idempotency-Key': 'k' } }),
    ],
    [
      'for one image as retries',
      (index) => ({ body: bodyOf(0), headers: { 'X-Stainless-Retry-Count': String(index + 1) } }),
    ],
    ['for another image each', (index) => ({ body: bodyOf(index) })],
  ])('%s has at most 10 that wait, and all other accounts are served', async (_, requestOf) => {
    const counts = await attack(accountOf(1), 300, requestOf);

    expect(waiting.get(accountOf(1))).toBeLessThanOrEqual(10);
    expect(counts.rate_limited).toBeGreaterThanOrEqual(280);
    const other = await attack(accountOf(2), 1, () => ({ body: bodyOf(0) }));
    expect(other).toEqual({ waits: 1 });
    const { headers } = await aCaller(memory, { account: { accountId: accountOf(3) } });
    const body = { model: 'xZI1.0Pro', prompt: 'x', endUserEmail: EMAIL };
    expect((await send('create-generation', { headers, body })).status).toBe(202);
  });
});

test('thirty accounts have no more that wait than all slots, and what waits is debited once each', async () => {
  await withEnvironment({ OPENAI_WAITING_IN_ALL: '40' }, async () => {
    for (let index = 0; index < 30; index++)
      await attack(accountOf(index), 30, (call) => ({ body: bodyOf(call) }));
  });

  const sum = [...waiting.values()].reduce((all, one) => all + one, 0);
  expect(sum).toBeLessThanOrEqual(40);
  expect(sum).toBeGreaterThanOrEqual(30);
  for (const { name } of executions.started) expect(memory.get(requestKey(name))).toBeDefined();
});
