import { beforeAll, describe, expect, test } from '@jest/globals';
import { refusal } from '../contract/support/answers.ts';
import {
  type AnyRecord,
  accepted,
  anUndrawnGeneration,
  type Caller,
  eventually,
  newCaller,
  settled,
  sharedService,
  unique,
} from '../contract/support/client.ts';
import { balance, expectUnbrokenChain, history } from '../contract/support/ledger.ts';
import { endUserPath, remove, uniqueEmail } from '../contract/support/resources.ts';
import { SHARED_RUNS } from '../contract/support/shared-runs.ts';

const PAUSE_SECONDS = SHARED_RUNS.guarded.pauseSeconds;

let caller: Caller;
beforeAll(async () => {
  caller = await newCaller(await sharedService('guarded'));
});

const create = (endUserEmail: string, more: Record<string, unknown> = {}) =>
  caller.post<AnyRecord>('/v1/generations', anUndrawnGeneration({ endUserEmail, ...more }));

/** Lets a request of an end-user time out at the provider. Returns when it failed, in epoch milliseconds. */
const timeOut = async (endUserEmail: string, model = 'xZI1.0Pro'): Promise<number> => {
  const { requestId } = await accepted(caller, { endUserEmail, model, prompt: unique('[fail=timeout]') });
  const { error, finishedAt = '' } = await settled(caller, requestId);
  expect(error?.code).toBe('provider_timeout');
  return Date.parse(finishedAt);
};

describe('After a time-out at the provider', () => {
  const email = uniqueEmail();
  let failedAt: number;
  beforeAll(async () => {
    failedAt = await timeOut(email);
  });

  test('the same end-user and model are refused with 503 and the remaining seconds, counting down', async () => {
    const before = { balance: await balance(caller), entries: await history(caller) };
    const retryAfters: number[] = [];

    await eventually(
      async () => {
        const queriedAt = Date.now();
        const answer = await create(email);
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
  });

  test('it stays over: the next creation is accepted too', async () => {
    expect((await create(email)).status).toBe(202);
  });
});

describe('While an end-user is paused with a model', () => {
  const email = uniqueEmail();
  beforeAll(async () => {
    await timeOut(email);
  });

  /** Sends a creation certainly during the pause: creations just before and after it are refused. */
  const whilePaused = async <T>(act: () => Promise<T>): Promise<T> => {
    const { status, headers } = await create(email);
    if (status !== 503 || Number(headers.get('retry-after')) < 5) {
      await eventually(
        () => create(email),
        (answer) => answer.status === 202,
      );
      await timeOut(email);
    }
    const result = await act();
    expect(refusal(await create(email))).toEqual([503, 'temporarily_unavailable']);
    return result;
  };

  test('a creation with another model is accepted', async () => {
    expect((await whilePaused(() => create(email, { model: 'xSD4.5' }))).status).toBe(202);
  });

  test('a creation by another end-user is accepted', async () => {
    expect((await whilePaused(() => create(uniqueEmail()))).status).toBe(202);
  });

  test('validation and a block come before the pause', async () => {
    const answer = await whilePaused(() => create(email, { n: 0 }));
    expect(refusal(answer)).toEqual([400, 'validation_error']);

    await caller.post(`${endUserPath(email)}/block`, undefined);
    expect(refusal(await create(email))).toEqual([403, 'forbidden']);
    await caller.post(`${endUserPath(email)}/unblock`, undefined);
  });

  test('the pause applies to every spelling of the address', async () => {
    const answer = await whilePaused(() => create(` ${email.toUpperCase()}`));

    expect(refusal(answer)).toEqual([503, 'temporarily_unavailable']);
  });
});

test('A task that times out pauses like a call that does', async () => {
  const email = uniqueEmail();
  await timeOut(email, 'xQI3Pro');

  expect(refusal(await create(email, { model: 'xQI3Pro' }))).toEqual([503, 'temporarily_unavailable']);
  expect((await create(email)).status).toBe(202);
});

test.each(['[fail=provider_error]', '[fail=content_policy]', '[broken=all]'])(
  'Other failures do not pause: %s',
  async (directive) => {
    const email = uniqueEmail();
    const { requestId } = await accepted(caller, { endUserEmail: email, prompt: unique(directive) });
    expect((await settled(caller, requestId)).status).toBe('failed');

    expect((await create(email)).status).toBe(202);
  },
);

test('A pause is deleted with its end-user: a new one with the same address is not paused', async () => {
  const email = uniqueEmail();
  await timeOut(email);
  expect((await create(email)).status).toBe(503);

  expect((await remove(caller, endUserPath(email))).status).toBe(200);

  expect((await create(email)).status).toBe(202);
});

test('The ledger is unbroken after all tests', async () => {
  for (const status of ['queued', 'processing']) {
    const list = () => caller.get<{ items: unknown[] }>(`/v1/generations?status=${status}`);
    await eventually(list, ({ body }) => body.items.length === 0);
  }

  await expectUnbrokenChain(caller);
});
