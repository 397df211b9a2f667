import { beforeEach, describe, expect, test } from '@jest/globals';
import { accountLimit, hostLimit, takeSlot } from '../../../../core/concurrency/in-flight.ts';
import { listWebhookAttempts } from '../../../../core/deliveries/webhook-attempts.ts';
import { accountKey, webhookAttemptKey, webhookAttemptPartition } from '../../../../core/table/keys.ts';
import { WEBHOOK_SLOTS } from '../../../../core/webhooks/deliver-webhook.ts';
import { findHostBackOff } from '../../../../core/webhooks/webhook-hosts.ts';
import { backOffSeconds, isHanging, stepWhenPostponed } from '../../../../core/webhooks/webhook-rules.ts';
import { atSeconds, NOW, StoppedClock } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAccount } from '../../builders/entities.ts';
import { deliverNext } from '../../builders/next-attempt.ts';
import { aRequestId } from '../../builders/request-ids.ts';
import { RETRY_SECONDS } from '../../builders/webhook-schedule.ts';
import { putFailedRequest, receiver } from '../../builders/webhook-world.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { answering } from '../../servers/webhook-receiver.ts';

process.env.WEBHOOK_RETRY_SECONDS = RETRY_SECONDS;
let clock: StoppedClock;
beforeEach(() => {
  memory.put(accountKey(OTHER), anAccount({ accountId: OTHER }));
  clock = new StoppedClock();
});

/** A failed request of its own, of an account; returns its next attempt. */
const aDelivery = (accountId = ACCOUNT_ID) => {
  const requestId = putFailedRequest({ requestId: aRequestId(NOW), accountId });
  const attempts = async () => (await listWebhookAttempts(requestId)).length;
  return {
    requestId,
    deliver: () => deliverNext(memory, { subjectId: requestId }, clock, () => 0),
    attempts,
  };
};
/** The receiver takes this long for its answer. */
const slowly = (seconds: number) => {
  receiver.respond = (webhook, response) => {
    clock.advance(seconds);
    answering(200)(webhook, response);
  };
};
const limitOf = (slots: number) => ({ leaseSeconds: 30, slots });
const OF_ACCOUNT = accountLimit('webhooks', ACCOUNT_ID, limitOf(WEBHOOK_SLOTS.account));
const OF_HOST = hostLimit('webhooks', ACCOUNT_ID, receiver.url, limitOf(WEBHOOK_SLOTS.host));
const OTHER = 'acc_01JD4KXQ8M0000000000000009';
const backOff = (accountId = ACCOUNT_ID) => findHostBackOff(accountId, receiver.url, clock.now());
const fill = async (limit: typeof OF_ACCOUNT) => {
  let taken = 0;
  while (await takeSlot(limit, clock.now())) taken += 1;
  return taken;
};

describe('webhooks under way', () => {
  test.each([
    ['account', OF_ACCOUNT, WEBHOOK_SLOTS.account],
    ['account to a host', OF_HOST, WEBHOOK_SLOTS.host],
  ])('are few of an %s: a further attempt is put off, neither made nor counted', async (_, limit, most) => {
    expect(await fill(limit)).toBe(most);
    const { deliver, attempts } = aDelivery();

    expect(await deliver()).toEqual({ next: 'wait', waitSeconds: 5, attemptsMade: 0 });
    expect([receiver.received.length, await attempts()]).toEqual([0, 0]);

    clock.advance(30);
    expect(await deliver()).toEqual({ next: 'stop' });
    expect([receiver.received.length, await attempts()]).toEqual([1, 1]);
  });

  test('leave other accounts theirs, to the same host too', async () => {
    await fill(OF_ACCOUNT);
    await fill(OF_HOST);

    expect(await aDelivery(OTHER).deliver()).toEqual({ next: 'stop' });
  });
});

describe('a host that hangs', () => {
  test('is left alone for 30 s, and then for twice as long each time it hangs again', async () => {
    slowly(10);
    await aDelivery().deliver();
    const { deliver, attempts } = aDelivery();
    expect(await deliver()).toEqual({ next: 'wait', waitSeconds: 35, attemptsMade: 0 });
    expect(await attempts()).toBe(0);

    clock.advance(30);
    await deliver();
    expect(await attempts()).toBe(1);
    expect(await backOff()).toEqual({
      hangs: 2,
      notBefore: new Date(clock.now().getTime() + 60_000).toISOString(),
    });
  });

  test('for one account delays no delivery of another to it, nor does another’s success end its back-off', async () => {
    slowly(10);
    await aDelivery().deliver();
    receiver.respond = answering(200);

    expect(await aDelivery(OTHER).deliver()).toEqual({ next: 'stop' });
    expect(await backOff(OTHER)).toBeUndefined();
    expect(await backOff()).toMatchObject({ hangs: 1 });
    expect(await aDelivery().deliver()).toMatchObject({ next: 'wait' });
  });

  test('is called once at a time until it answers in time, and then as any other', async () => {
    slowly(10);
    await aDelivery().deliver();
    clock.advance(30);
    const others: unknown[] = [];
    receiver.respond = async (webhook, response) => {
      others.push(await aDelivery().deliver());
      answering(200)(webhook, response);
    };
    await aDelivery().deliver();

    expect(others).toEqual([{ next: 'wait', waitSeconds: 10, attemptsMade: 0 }]);
    expect(await backOff()).toBeUndefined();
    receiver.respond = answering(200);
    expect(await aDelivery().deliver()).toEqual({ next: 'stop' });
    slowly(10);
    await aDelivery().deliver();
    expect(await backOff()).toMatchObject({ hangs: 1 });
  });

  test('is backed off from once by attempts that hang together', async () => {
    let waiting = 0;
    receiver.respond = async (webhook, response) => {
      if (++waiting === 5) clock.advance(15);
      while (waiting < 5) await new Promise(setImmediate);
      answering(200)(webhook, response);
    };
    await Promise.all(Array.from({ length: 5 }, () => aDelivery().deliver()));

    expect(await backOff()).toMatchObject({ hangs: 1 });
  });

  test('of a clock ahead of time does not keep the host from being called', async () => {
    clock.advance(3_600);
    await slowly(10);
    await aDelivery().deliver();
    clock.advance(-7_200);

    expect((await backOff())?.notBefore).toBe(clock.now().toISOString());
  });

  test('counts as new a day after its back-off', async () => {
    slowly(10);
    await aDelivery().deliver();
    clock.advance(30 + 86_400);

    expect(await backOff()).toBeUndefined();
    await aDelivery().deliver();
    expect(await backOff()).toMatchObject({ hangs: 1 });
  });

  test.each([
    ['that answers in time', { status: 500 }, 9_999, false],
    ['that answers late', { status: 200 }, 10_000, true],
    ['that fails at once', { error: 'ECONNREFUSED' }, 3_999, false],
    ['that does not let us connect', { error: 'CONNECT_TIMEOUT' }, 5_000, true],
    ['that does not answer', { error: 'timeout' }, 15_000, true],
  ])('is one %s: %#', (_, result, milliseconds, expected) => {
    expect(isHanging(result, milliseconds)).toBe(expected);
  });

  test('is not one that answers at once while our own reads are slow', async () => {
    const { deliver, requestId } = aDelivery();
    memory.beforeCall = () => {
      if (receiver.received.length === 0) clock.advance(10);
    };
    await deliver();

    expect(await listWebhookAttempts(requestId)).toMatchObject([{ milliseconds: 0 }]);
    expect(await backOff()).toBeUndefined();
  });

  test('is never left alone for more than 30 min', () => {
    expect([1, 2, 3, 7, 8, 1_000].map(backOffSeconds)).toEqual([30, 60, 120, 1_800, 1_800, 1_800]);
  });
});

test('An attempt that cannot be read counts: the next one has the next number, and the delivery ends', async () => {
  receiver.respond = answering(500);
  const { deliver, requestId } = aDelivery();
  const numbers = () => memory.partition(webhookAttemptPartition(requestId)).map((attempt) => attempt.number);
  await deliver();
  await deliver();
  memory.patch(webhookAttemptKey(requestId, requestId, 1), { milliseconds: 'few' });

  for (let attempt = 3; attempt < 10; attempt++) expect(await deliver()).toMatchObject({ next: 'wait' });
  expect(await deliver()).toEqual({ next: 'give-up', reason: 'spent' });
  expect(numbers()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

describe('an attempt that is put off', () => {
  const SCHEDULE = [5, 300];
  const step = (ageSeconds: number, random = 1, notBeforeSeconds?: number) =>
    stepWhenPostponed(
      {
        startedAt: NOW.toISOString(),
        notBefore: notBeforeSeconds === undefined ? undefined : atSeconds(notBeforeSeconds).toISOString(),
        now: atSeconds(ageSeconds),
        attemptsMade: 0,
      },
      SCHEDULE,
      random,
    );

  test.each([
    [0, 1, 10],
    [0, 0, 5],
    [60, 1, 30],
    [3_000, 1, 1_500],
    [80_000, 1, 1_800],
    [80_000, 0, 900],
  ])(
    '%p s after the delivery began, with the random number %p, comes %p s later',
    (age, random, waitSeconds) => {
      expect(step(age, random)).toEqual({ next: 'wait', waitSeconds, attemptsMade: 0 });
    },
  );

  test('does not come before its host may be called', () => {
    expect(step(0, 0, 600)).toEqual({ next: 'wait', waitSeconds: 605, attemptsMade: 0 });
    expect(step(60, 1, 30)).toEqual({ next: 'wait', waitSeconds: 30, attemptsMade: 0 });
  });

  test('is given up after 13 days, before its execution times out, however long the schedule', () => {
    const at = (days: number) =>
      stepWhenPostponed(
        {
          startedAt: NOW.toISOString(),
          notBefore: undefined,
          now: atSeconds(days * 86_400),
          attemptsMade: 0,
        },
        Array(11).fill(86_400),
        1,
      );

    expect(at(13)).toMatchObject({ next: 'wait' });
    expect(at(13.01)).toEqual({ next: 'give-up', reason: 'spent' });
  });

  test('is given up when its delivery is a day old and twice as old as its schedule', () => {
    expect(step(86_400)).toMatchObject({ next: 'wait' });
    expect(step(86_401)).toEqual({ next: 'give-up', reason: 'spent' });
  });
});
