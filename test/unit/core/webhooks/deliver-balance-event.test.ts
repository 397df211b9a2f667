import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import type { Account } from '../../../../core/accounts/accounts.ts';
import type { BalanceEvent } from '../../../../core/accounts/balance-events.ts';
import { listWebhookAttempts } from '../../../../core/deliveries/webhook-attempts.ts';
import { accountKey, balanceEventKey } from '../../../../core/table/keys.ts';
import { newDeliverySuffix } from '../../../../core/webhooks/webhook-rules.ts';
import { handler } from '../../../../functions/workflow/deliver-webhook.ts';
import { aLambdaContext } from '../../builders/api-events.ts';
import { NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAccount } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { receiver } from '../../builders/webhook-world.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { aClosedUrl } from '../../servers/loopback-server.ts';
import { answering, signatureOf } from '../../servers/webhook-receiver.ts';

process.env.WEBHOOK_RETRY_SECONDS = '100';
jest.useFakeTimers({
  now: NOW,
  doNotFake: ['nextTick', 'setImmediate', 'setTimeout', 'clearTimeout', 'queueMicrotask'],
});

const LOW = `${ACCOUNT_ID}_low_5`;
const EXHAUSTED = `${ACCOUNT_ID}_exhausted_1795000000`;
const put = (event: Pick<BalanceEvent, 'eventId' | 'type'> & Partial<BalanceEvent>) =>
  memory.put(balanceEventKey(ACCOUNT_ID, event.eventId), {
    ...{ accountId: ACCOUNT_ID, at: NOW.toISOString(), balanceThousandths: 4_500 },
    ...event,
  });
const account = (overrides: Partial<Account> = {}) =>
  memory.put(
    accountKey(ACCOUNT_ID),
    anAccount({ balanceWebhook: { url: receiver.url, belowThousandths: 5_000 }, ...overrides }),
  );
beforeEach(() => {
  account();
  put({ eventId: LOW, type: 'balance.low', belowThousandths: 5_000 });
  put({ eventId: EXHAUSTED, type: 'balance.exhausted', priceThousandths: 12_000 });
});
const deliver = (delivery = LOW, attemptsMade = 0) =>
  handler(
    { requestId: null, delivery, attemptsMade, knownSteps: ['wait', 'give-up', 'stop'] },
    aLambdaContext(),
  );
const STOP = { next: 'stop' };

describe('the delivery of a balance event', () => {
  test.each([
    [LOW, 'balance.low', { accountId: ACCOUNT_ID, xTokens: 4.5, below: 5 }],
    [EXHAUSTED, 'balance.exhausted', { accountId: ACCOUNT_ID, xTokens: 4.5, required: 12 }],
  ])('of %s sends %s, signed as the official library expects', async (delivery, type, data) => {
    expect(await deliver(delivery)).toEqual(STOP);

    const [webhook] = receiver.received;
    if (!webhook) throw new Error('Nothing was received.');
    expect(webhook.headers).toMatchObject({ 'webhook-id': `msg_${delivery}` });
    expect(new Webhook(anAccount().webhookSecret).verify(webhook.body, signatureOf(webhook))).toEqual({
      ...{ type, timestamp: NOW.toISOString(), data },
    });
  });

  test('is attempted again by the schedule, records each attempt, and backs off from a host', async () => {
    receiver.respond = answering(503);

    expect(await deliver()).toEqual({ next: 'wait', waitSeconds: expect.any(Number), attemptsMade: 1 });
    expect(await deliver(LOW, 1)).toEqual({ next: 'give-up', reason: 'spent' });
    expect(await listWebhookAttempts(LOW, LOW)).toMatchObject([
      { requestId: LOW, number: 1, status: 503 },
      { requestId: LOW, number: 2, status: 503 },
    ]);
  });

  test('that staff asked for keeps the webhook’s id', async () => {
    expect(await deliver(`${LOW}${newDeliverySuffix(NOW)}`)).toEqual(STOP);

    expect(receiver.received).toMatchObject([{ headers: { 'webhook-id': `msg_${LOW}` } }]);
  });

  test('goes to the address that the account has by then', async () => {
    account({ balanceWebhook: { url: await aClosedUrl(), belowThousandths: 5_000 } });

    expect(await deliver()).toMatchObject({ next: 'wait' });
    expect(receiver.received).toEqual([]);
  });

  test.each([
    ['event', () => memory.remove(balanceEventKey(ACCOUNT_ID, LOW))],
    ['account', () => memory.remove(accountKey(ACCOUNT_ID))],
    ['webhook', () => memory.put(accountKey(ACCOUNT_ID), anAccount())],
  ])('sends nothing without its %s', async (_, remove) => {
    remove();

    expect(await deliver()).toEqual(STOP);
    expect(receiver.received).toEqual([]);
  });

  test('of a name that is no event fails', async () => {
    await expect(deliver('execution-1')).rejects.toThrow('names no balance event');
  });

  test('opens no connection to a private address, as that of a request', async () => {
    account({ balanceWebhook: { url: 'http://127.0.0.1/', belowThousandths: 5_000 } });

    await withEnvironment({ ALLOW_PRIVATE_TARGETS: 'false' }, deliver);
    expect(await listWebhookAttempts(LOW)).toMatchObject([{ error: 'target_refused' }]);
  });
});
