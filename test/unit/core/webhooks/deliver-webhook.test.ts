import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { deleteRequest } from '../../../../core/deletion/delete-requests.ts';
import { listWebhookAttempts } from '../../../../core/deliveries/webhook-attempts.ts';
import { logger } from '../../../../core/observability.ts';
import { accountKey, requestKey, webhookAttemptPartition } from '../../../../core/table/keys.ts';
import { deliverWebhook } from '../../../../core/webhooks/deliver-webhook.ts';
import { newDeliverySuffix } from '../../../../core/webhooks/webhook-rules.ts';
import { atSeconds, NOW, StoppedClock, tickingClock } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anImageRequest, putRequest, REQUEST_ID } from '../../builders/entities.ts';
import { deliverNext, putAttempt } from '../../builders/next-attempt.ts';
import { RETRY_SCHEDULE } from '../../builders/webhook-schedule.ts';
import { receiver } from '../../builders/webhook-world.ts';
import { aWebhookAttempt } from '../../builders/webhooks.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { metricsCounted, trafficCounted } from '../../fakes/metrics.ts';
import { answering } from '../../servers/webhook-receiver.ts';
import { anEndedRequest, deliver, failed, succeeded } from './a-delivery.ts';

describe('an attempt', () => {
  test.each([200, 201, 202, 204, 299])('answered %i delivers it', async (status) => {
    receiver.respond = answering(status);

    expect(await deliver()).toEqual({ next: 'stop' });
  });

  test.each([300, 304, 400, 401, 403, 404, 408, 409, 422, 429, 451, 500, 502, 503, 504, 599])(
    'answered %i is followed by another',
    async (status) => {
      receiver.respond = answering(status);

      expect(await deliver()).toEqual({ next: 'wait', waitSeconds: 5, attemptsMade: 1 });
      expect(await listWebhookAttempts(REQUEST_ID)).toMatchObject([{ number: 1, status }]);
    },
  );

  test('answered 410 is the last one, and counts as given up', async () => {
    receiver.respond = answering(410);
    const counted = metricsCounted();

    expect(await deliver()).toEqual({ next: 'give-up', reason: 'gone' });
    expect(counted()).toEqual([['WebhookGivenUp', {}]]);
    expect(await listWebhookAttempts(REQUEST_ID)).toMatchObject([{ number: 1, status: 410 }]);
  });

  test.each([301, 302, 303, 307, 308])('answered %i does not follow the redirect', async (status) => {
    receiver.respond = answering(status, { location: `${receiver.url}/elsewhere` });

    expect(await deliver()).toEqual({ next: 'wait', waitSeconds: 5, attemptsMade: 1 });
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook']);
  });

  test('is recorded with its start and duration', async () => {
    await deliver(undefined, { clock: tickingClock(250) });

    expect(await listWebhookAttempts(REQUEST_ID)).toStrictEqual([
      aWebhookAttempt({
        // The clock is read before, for the request, the attempt, each limit, the signature and the claim.
        startedAt: new Date(NOW.getTime() + 1_250).toISOString(),
        milliseconds: 250,
        status: 204,
      }),
    ]);
  });
});

describe('the record of an attempt', () => {
  /** Fails the writes of the record as a busy table, as long as `isBusy` says. */
  const whileBusy = (isBusy: () => boolean) =>
    memory.client.on(UpdateCommand).callsFake((input) => {
      const isRecord = input.Key.PK === webhookAttemptPartition(REQUEST_ID);
      if (isRecord && isBusy()) throw Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
      return memory.update(input);
    });
  beforeEach(() => {
    jest.spyOn(Math, 'random').mockReturnValue(0);
  });
  afterEach(() => {
    jest.mocked(Math.random).mockRestore();
  });

  test('is written again when the table is busy', async () => {
    let tries = 0;
    whileBusy(() => ++tries < 3);

    expect(await deliver()).toEqual({ next: 'stop' });
    expect(await listWebhookAttempts(REQUEST_ID)).toMatchObject([{ number: 1, status: 204 }]);
  });

  test('is given up after 10 s', async () => {
    const clock = new StoppedClock();
    let tries = 0;
    whileBusy(() => {
      if (++tries > 1) clock.advance(5);
      return true;
    });

    await expect(deliver(undefined, { clock })).rejects.toThrow('slow down');
    expect([tries, receiver.received.length]).toEqual([3, 1]);
  });
});

describe('the seconds from the end of a request to its webhook', () => {
  test('are counted at the first attempt, which no receiver can delay, and not for staff', async () => {
    const counted = trafficCounted();
    receiver.respond = answering(503);
    for (const seconds of [7, 12]) await deliver(undefined, { clock: new StoppedClock(atSeconds(seconds)) });
    const delivery = `${REQUEST_ID}${newDeliverySuffix(atSeconds(400))}`;
    await deliver(undefined, { clock: new StoppedClock(atSeconds(400)), delivery });

    expect(counted()).toEqual([['WebhookLag', {}, 7]]);
  });

  test('are in the line of each attempt, with the ids of request, account and delivery', async () => {
    const info = jest.spyOn(logger, 'info').mockClear();
    await deliver(undefined, { clock: new StoppedClock(atSeconds(7)) });

    const ids = { requestId: REQUEST_ID, accountId: ACCOUNT_ID, delivery: REQUEST_ID };
    expect(info.mock.calls).toEqual([
      ['webhook attempted', { ...ids, number: 1, sinceEndSeconds: 7, milliseconds: 0, status: 204 }],
    ]);
  });
});

describe('the attempts of a delivery', () => {
  test('are ten, on schedule, whatever the receiver answers', async () => {
    receiver.respond = answering(500);
    const steps = [];
    for (let number = 1; number <= 10; number++) steps.push(await deliver());

    expect(steps).toEqual([
      ...RETRY_SCHEDULE.map((waitSeconds, index) => ({
        next: 'wait',
        waitSeconds,
        attemptsMade: index + 1,
      })),
      { next: 'give-up', reason: 'spent' },
    ]);
    expect((await listWebhookAttempts(REQUEST_ID)).map(({ number }) => number)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    ]);
  });

  test('are counted per delivery, so that one started by an operator has the whole schedule', async () => {
    for (let number = 1; number <= 9; number++) putAttempt(memory, aWebhookAttempt({ number, status: 500 }));
    receiver.respond = answering(500);

    expect(await deliver(undefined, { delivery: `${REQUEST_ID}-again` })).toEqual({
      next: 'wait',
      waitSeconds: 5,
      attemptsMade: 1,
    });
  });

  test.each([
    ['not sent again while it may be under way', 59, { next: 'wait', waitSeconds: 60, attemptsMade: 0 }, []],
    [
      'taken for one that failed, once its function must be dead',
      60,
      { next: 'wait', waitSeconds: 5, attemptsMade: 1 },
      ['interrupted'],
    ],
  ])('whose function died after the receiver was called is %s', async (_what, seconds, step, recorded) => {
    receiver.respond = answering(500);
    const lost = new Error('the process died');
    memory.beforeCall = () => {
      if (receiver.received.length === 1) throw lost;
    };
    await expect(deliver()).rejects.toThrow(lost);
    memory.beforeCall = () => undefined;

    expect(await deliver(undefined, { clock: new StoppedClock(atSeconds(seconds)) })).toEqual(step);
    expect(receiver.received).toHaveLength(1);
    expect((await listWebhookAttempts(REQUEST_ID)).map(({ error }) => error)).toEqual(recorded);
  });

  test('are made once each, whatever is repeated at the same time or later', async () => {
    receiver.respond = answering(503);
    putRequest(memory, anEndedRequest());
    const again = (made: number) =>
      deliverWebhook(
        { subjectId: REQUEST_ID, delivery: REQUEST_ID, attemptsMade: made },
        new StoppedClock(),
        () => 0.5,
      );

    const together = await Promise.all([again(0), again(0), again(0)]);
    expect(await again(0)).toEqual({ next: 'wait', waitSeconds: 5, attemptsMade: 1 });
    await again(1);
    await again(1);

    expect(together).toContainEqual({ next: 'wait', waitSeconds: 5, attemptsMade: 1 });
    expect(receiver.received).toHaveLength(2);
    expect((await listWebhookAttempts(REQUEST_ID)).map(({ number }) => number)).toEqual([1, 2]);
  });
});

describe('nothing is sent or recorded', () => {
  const expectNothing = async (step: unknown) => {
    expect(step).toEqual({ next: 'stop' });
    expect(receiver.connections).toBe(0);
    expect(await listWebhookAttempts(REQUEST_ID)).toEqual([]);
  };

  test('of an attempt during which the request is deleted', async () => {
    receiver.respond = async (webhook, response) => {
      await deleteRequest(ACCOUNT_ID, REQUEST_ID, NOW);
      answering(503)(webhook, response);
    };

    const request = anImageRequest({ ...failed, webhookUrl: receiver.url });

    expect(await deliver(request)).toMatchObject({ next: 'wait' });
    expect(memory.partition(requestKey(REQUEST_ID).PK)).toEqual([]);
    expect(await deliverNext(memory, { subjectId: REQUEST_ID }, new StoppedClock(), () => 0.5)).toEqual({
      next: 'stop',
    });
  });

  test('for a request that was deleted', async () => {
    await expectNothing(await deliverNext(memory, { subjectId: REQUEST_ID }, new StoppedClock(), () => 0.5));
  });

  test.each([
    ['that has no webhook', { ...succeeded }],
    ['that is not over', { status: 'processing', webhookUrl: receiver.url } as const],
    ['past its retention', { ...succeeded, webhookUrl: receiver.url, ttl: NOW.getTime() / 1000 }],
  ])('for a request %s', async (_what, overrides) => {
    await expectNothing(await deliver(anImageRequest(overrides)));
  });

  test('when the account with the secret cannot be read: the step fails', async () => {
    memory.remove(accountKey(ACCOUNT_ID));

    await expect(deliver()).rejects.toThrow(ACCOUNT_ID);
    expect(memory.partition(requestKey(REQUEST_ID).PK)).toHaveLength(1);
    expect(receiver.connections).toBe(0);
  });
});
