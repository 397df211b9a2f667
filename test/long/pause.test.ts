import { expect, test } from '@jest/globals';
import { refusal } from '../contract/support/answers.ts';
import {
  type AnyRecord,
  accepted,
  anUndrawnGeneration,
  eventually,
  settled,
  unique,
} from '../contract/support/client.ts';
import { balance, expectUnbrokenChain, history } from '../contract/support/ledger.ts';
import { endUserPath, remove, uniqueEmail } from '../contract/support/resources.ts';
import { SHARED_RUNS } from '../contract/support/shared-runs.ts';
import { useCaller } from '../contract/support/use-caller.ts';

const PAUSE_SECONDS = SHARED_RUNS.guarded.pauseSeconds;

const caller = useCaller(undefined, 'guarded');

const create = (endUserEmail: string, more: Record<string, unknown> = {}) =>
  caller.post<AnyRecord>('/v1/generations', anUndrawnGeneration({ endUserEmail, ...more }));

/** Lets a request of an end-user time out at the provider. Returns when it failed, in epoch milliseconds. */
const timeOut = async (endUserEmail: string, model = 'xZI1.0Pro'): Promise<number> => {
  const { requestId } = await accepted(caller, { endUserEmail, model, prompt: unique('[fail=timeout]') });
  const { error, finishedAt = '' } = await settled(caller, requestId);
  expect(error?.code).toBe('provider_timeout');
  return Date.parse(finishedAt);
};

// The rules of a pause are tested in test/unit/core/end-users/pauses.test.ts, its place among refusals in test/unit/functions.
test.each(['xZI1.0Pro', 'xQI3Pro'])(
  'After a time-out at the provider, creations with %s are refused with the remaining seconds, counting down',
  async (model) => {
    const email = uniqueEmail();
    const failedAt = await timeOut(email, model);
    const before = { balance: await balance(caller), entries: await history(caller) };
    const retryAfters: number[] = [];

    await eventually(
      async () => {
        const queriedAt = Date.now();
        const answer = await create(` ${email.toUpperCase()}`, { model });
        const answeredAt = Date.now();
        if (answer.status === 202) {
          expect(answeredAt).toBeGreaterThanOrEqual(failedAt + PAUSE_SECONDS * 1000);
          await settled(caller, answer.body.requestId);
          return true;
        }
        expect(refusal(answer)).toEqual([503, 'temporarily_unavailable']);
        const left = Number(answer.headers.get('retry-after'));
        // Whole seconds, rounded up, at some time between the request and its answer.
        const leftAt = (time: number) => Math.ceil((failedAt + PAUSE_SECONDS * 1000 - time) / 1000);
        expect(left).toBeGreaterThanOrEqual(Math.max(1, leftAt(answeredAt)));
        expect(left).toBeLessThanOrEqual(leftAt(queriedAt));
        retryAfters.push(left);
        expect(await balance(caller)).toBe(before.balance);
        return false;
      },
      (hasEnded) => hasEnded,
    );

    expect(retryAfters.length).toBeGreaterThan(0);
    expect(retryAfters.toSorted((a, b) => b - a)).toEqual(retryAfters);
    expect(await history(caller)).toHaveLength(before.entries.length + 2);
    await expectUnbrokenChain(caller);
  },
);

test('A pause is of one end-user and one model, and is deleted with its end-user', async () => {
  const email = uniqueEmail();
  await timeOut(email);
  expect((await create(email)).status).toBe(503);

  const others = [await create(email, { model: 'xSD4.5' }), await create(uniqueEmail())];
  expect(others.map(({ status }) => status)).toEqual([202, 202]);
  await Promise.all(others.map(({ body }) => settled(caller, body.requestId)));

  expect((await remove(caller, endUserPath(email))).status).toBe(200);
  expect((await create(email)).status).toBe(202);
});
