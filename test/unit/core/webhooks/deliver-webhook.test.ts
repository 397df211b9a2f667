import { isDeepStrictEqual } from 'node:util';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import type { Account } from '../../../../core/accounts/accounts.ts';
import { hostDigest } from '../../../../core/concurrency/in-flight.ts';
import { deleteRequest } from '../../../../core/deletion/delete-requests.ts';
import {
  insertFirstAttemptWrite,
  listWebhookAttempts,
} from '../../../../core/deliveries/webhook-attempts.ts';
import { logger } from '../../../../core/observability.ts';
import type { StoredRequest } from '../../../../core/requests/request-rules.ts';
import { accountKey, requestKey, webhookAttemptKey, webhookHostKey } from '../../../../core/table/keys.ts';
import type { Clock } from '../../../../core/time.ts';
import { deliverWebhook, makeFirstAttempt } from '../../../../core/webhooks/deliver-webhook.ts';
import { newDeliverySuffix } from '../../../../core/webhooks/webhook-rules.ts';
import { atSeconds, NOW, StoppedClock, tickingClock } from '../../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anAccount,
  anImageRequest,
  aStoredOutput,
  aStoredVideo,
  aVideoRequest,
  EMAIL,
  putRequest,
  REQUEST_ID,
  VIDEO_ID,
} from '../../builders/entities.ts';
import { deliverNext, putAttempt } from '../../builders/next-attempt.ts';
import { RETRY_SCHEDULE, RETRY_SECONDS } from '../../builders/webhook-schedule.ts';
import { receiver } from '../../builders/webhook-world.ts';
import { aWebhookAttempt } from '../../builders/webhooks.ts';
import { executions } from '../../fakes/fresh-executions.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { metricsCounted, trafficCounted } from '../../fakes/metrics.ts';
import { answering, type ReceivedWebhook, signatureOf } from '../../servers/webhook-receiver.ts';

const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const OLD_SECRET = 'whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=';
process.env.WEBHOOK_RETRY_SECONDS = RETRY_SECONDS;
beforeEach(() => putAccount());

const putAccount = (overrides: Partial<Account> = {}): void =>
  memory.put(accountKey(ACCOUNT_ID), anAccount({ webhookSecret: SECRET, ...overrides }));

const finishedAt = NOW.toISOString();
const expiresAt = atSeconds(3600).toISOString();
const succeeded = { status: 'succeeded', finishedAt, expiresAt, costThousandths: 4_000 } as const;
const failed = {
  status: 'failed',
  finishedAt,
  error: { code: 'content_policy', message: 'The content was refused.' },
} as const;
const anEndedRequest = () =>
  anImageRequest({ ...succeeded, outputs: [aStoredOutput(0)], webhookUrl: receiver.url });

/** Makes the next attempt of the request's first delivery, without jitter. */
const deliver = (
  request: StoredRequest = anEndedRequest(),
  { clock = new StoppedClock(), delivery = request.requestId }: { clock?: Clock; delivery?: string } = {},
) => {
  putRequest(memory, request);
  return deliverNext(memory, { subjectId: request.requestId, delivery }, clock, () => 0.5);
};

/** The official library's verdict at an instant: the event, or why it is refused. */
const verify = (webhook: ReceivedWebhook | undefined, secret: string, at = NOW): unknown => {
  if (!webhook) throw new Error('Nothing was received.');
  const now = jest.spyOn(Date, 'now').mockReturnValue(at.getTime());
  try {
    return new Webhook(secret).verify(webhook.body, signatureOf(webhook));
  } finally {
    now.mockRestore();
  }
};

describe('what a receiver gets', () => {
  const created = { endUserEmail: EMAIL, createdAt: NOW.toISOString() };
  const image = {
    ...{ requestId: REQUEST_ID, model: 'xQI3Pro', prompt: 'a lighthouse', referencesCount: 0 },
    ...created,
  };
  const video = { requestId: VIDEO_ID, model: 'xW3.0s', prompt: 'waves', ...created };
  const urlOf = (requestId: string, file: string) =>
    expect.stringMatching(`^https://files\\.example\\.com/outputs/${requestId}/${file}\\?Expires=`);
  const imageItem = { id: `${REQUEST_ID}_0`, size: '1024x1024', expiresAt, url: urlOf(REQUEST_ID, '0.png') };
  const videoItem = {
    ...{ id: `${VIDEO_ID}_0`, duration: 5.04, resolution: '1080p', expiresAt },
    url: urlOf(VIDEO_ID, '0.mp4'),
  };
  const error = failed.error;

  test.each([
    [
      'generation.succeeded',
      anImageRequest({ ...succeeded, outputs: [aStoredOutput(0)] }),
      { ...image, status: 'succeeded', images: [imageItem], cost: 4, finishedAt },
    ],
    ['generation.failed', anImageRequest(failed), { ...image, status: 'failed', error, finishedAt }],
    [
      'video.succeeded',
      aVideoRequest({ ...succeeded, outputs: [aStoredVideo()] }),
      { ...video, status: 'succeeded', videos: [videoItem], cost: 4, finishedAt },
    ],
    ['video.failed', aVideoRequest(failed), { ...video, status: 'failed', error, finishedAt }],
  ])('is %s with the current record, signed as the official library expects', async (type, request, data) => {
    await deliver({ ...request, webhookUrl: receiver.url });

    expect(receiver.received).toHaveLength(1);
    expect(verify(receiver.received[0], SECRET)).toStrictEqual({ type, timestamp: finishedAt, data });
  });

  test('is one POST of JSON, with the request’s webhook id, the service’s name and nothing else about the sender', async () => {
    await deliver();

    expect(receiver.received).toMatchObject([
      {
        method: 'POST',
        path: '/hook',
        headers: {
          'content-type': 'application/json',
          'webhook-id': `msg_${REQUEST_ID}`,
          'user-agent': 'generation-service/1.2.3 (+https://operator.example)',
        },
      },
    ]);
    const transport = ['host', 'connection', 'content-length', 'content-type', 'user-agent'];
    expect(Object.keys(receiver.received[0]?.headers ?? {}).toSorted()).toEqual(
      [...transport, 'webhook-id', 'webhook-signature', 'webhook-timestamp'].toSorted(),
    );
  });

  test('is signed with both secrets for a day after a rotation, then with the new one alone', async () => {
    putAccount({ previousWebhookSecret: OLD_SECRET, previousValidUntil: atSeconds(86_400).toISOString() });
    await deliver();
    await deliver(undefined, { clock: new StoppedClock(atSeconds(86_400)) });

    const [within, after] = receiver.received;
    for (const secret of [SECRET, OLD_SECRET]) expect(verify(within, secret)).toBeDefined();
    expect(verify(after, SECRET, atSeconds(86_400))).toBeDefined();
    expect(() => verify(after, OLD_SECRET, atSeconds(86_400))).toThrow('No matching signature found');
  });

  test('is rendered and signed anew in every attempt, under the same id', async () => {
    receiver.respond = answering(503);
    await deliver();
    await deliver(undefined, { clock: new StoppedClock(atSeconds(300)) });

    const [first, second] = receiver.received;
    expect(first?.headers['webhook-id']).toBe(second?.headers['webhook-id']);
    expect(() => verify(first, SECRET, atSeconds(301))).toThrow('too old');
    expect(verify(second, SECRET, atSeconds(301))).toBeDefined();
  });

  test('keeps its type when the record in it has expired', async () => {
    const clock = new StoppedClock(atSeconds(3600));

    await deliver(undefined, { clock });

    expect(verify(receiver.received[0], SECRET, clock.now())).toStrictEqual({
      type: 'generation.succeeded',
      timestamp: finishedAt,
      data: { ...image, status: 'expired', finishedAt },
    });
  });
});

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

describe('the first attempt', () => {
  const MACHINE = 'arn:aws:states:us-east-1:111122223333:stateMachine:webhook-delivery';
  const due = () => memory.get(webhookAttemptKey(REQUEST_ID, REQUEST_ID, 1))?.GSI1SK;
  const first = (clock: Clock = new StoppedClock()) =>
    makeFirstAttempt(REQUEST_ID, MACHINE, clock, () => 0.5);
  const started = () => executions.started.map(({ name, input }) => ({ name, input }));
  const execution = (result: object) => ({
    name: REQUEST_ID,
    input: {
      ...{ requestId: REQUEST_ID, model: 'xQI3Pro', accountId: ACCOUNT_ID },
      step: { result: { next: 'wait', ...result } },
    },
  });
  beforeEach(() => {
    putRequest(memory, anEndedRequest());
    const { Put } = insertFirstAttemptWrite(REQUEST_ID, finishedAt);
    memory.put(webhookAttemptKey(REQUEST_ID, REQUEST_ID, 1), Put?.Item ?? {});
  });

  test.each([204, 410])('answered %i needs no execution, and leaves the due list', async (status) => {
    receiver.respond = answering(status);
    expect(due()).toBe(atSeconds(30).toISOString());

    await first();

    expect(started()).toEqual([]);
    expect(due()).toBeUndefined();
    expect(await listWebhookAttempts(REQUEST_ID)).toMatchObject([{ number: 1, status }]);
  });

  test.each([
    ['is accepted', 204, 2],
    ['fails', 503, 3],
  ])(
    'that %s is written when it is claimed, when it has its result, and to leave the list',
    async (_, status, writes) => {
      receiver.respond = answering(status);

      await first();

      const key = webhookAttemptKey(REQUEST_ID, REQUEST_ID, 1);
      const updates = memory.client.commandCalls(UpdateCommand).map(({ args: [{ input }] }) => input.Key);
      expect(updates.filter((updated) => isDeepStrictEqual(updated, key))).toHaveLength(writes);
      expect(due()).toBeUndefined();
    },
  );

  test('that failed starts the execution that makes the second, and leaves the due list', async () => {
    receiver.respond = answering(503);

    await first();

    expect(started()).toEqual([execution({ waitSeconds: 5, attemptsMade: 1 })]);
    expect(due()).toBeUndefined();
  });

  test('that is put off starts the execution that makes it', async () => {
    memory.put(webhookHostKey(ACCOUNT_ID, hostDigest(receiver.url)), {
      ...{ hangs: 1, notBefore: atSeconds(30).toISOString() },
      ttl: NOW.getTime() / 1000 + 86_400,
    });

    await first();

    expect(started()).toEqual([execution({ waitSeconds: expect.any(Number), attemptsMade: 0 })]);
    expect(due()).toBeUndefined();
    receiver.respond = answering(204);
    expect(await deliver(undefined, { clock: new StoppedClock(atSeconds(40)) })).toEqual({ next: 'stop' });
  });

  test('is made once, and starts one execution, however often it is asked for', async () => {
    receiver.respond = answering(503);

    await Promise.all([first(), first()]);
    await first(new StoppedClock(atSeconds(90)));

    expect(receiver.received).toHaveLength(1);
    expect(started()).toHaveLength(1);
    expect(due()).toBeUndefined();
  });

  test('stays on the due list while its function may be at work, and until the execution has started', async () => {
    receiver.respond = answering(503);
    executions.refuseStarts(new Error('throttled'));

    await expect(first()).rejects.toThrow('throttled');

    expect(due()).toBe(atSeconds(30).toISOString());
    executions.reset();
    await first();
    expect(started()).toHaveLength(1);
    expect(receiver.received).toHaveLength(1);
  });

  test('of a request that was deleted is not made', async () => {
    memory.remove(requestKey(REQUEST_ID));

    await first();

    expect(receiver.connections).toBe(0);
    expect(due()).toBeUndefined();
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
