import { beforeEach, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { listWebhookAttempts } from '../../../core/deliveries/webhook-attempts.ts';
import { handler } from '../../../functions/workflow/deliver-webhook.ts';
import { aLambdaContext } from '../builders/api-events.ts';
import { anAccount, REQUEST_ID } from '../builders/entities.ts';
import { putFailedRequest, receiver } from '../builders/webhook-world.ts';
import { memory } from '../fakes/fresh-table.ts';
import { answering, signatureOf } from '../servers/webhook-receiver.ts';

process.env.WEBHOOK_RETRY_SECONDS = '100';
beforeEach(() => void putFailedRequest({ finishedAt: new Date().toISOString() }));

const DELIVERY = `${REQUEST_ID}-again`;
const input = { requestId: REQUEST_ID, delivery: DELIVERY, attemptsMade: 0, knownSteps: ['wait', 'give-up'] };

describe('deliverWebhook', () => {
  test('makes the next attempt of the given delivery and returns the next step', async () => {
    receiver.respond = answering(503);

    const first = await handler(input, aLambdaContext());
    const second = await handler({ ...input, attemptsMade: 1 }, aLambdaContext());

    expect(first).toEqual({ next: 'wait', waitSeconds: expect.any(Number), attemptsMade: 1 });
    expect(second).toEqual({ next: 'give-up', reason: 'spent' });
    // Signed with the current time, as the official library expects.
    for (const webhook of receiver.received)
      new Webhook(anAccount().webhookSecret).verify(webhook.body, signatureOf(webhook));
    expect(await listWebhookAttempts(REQUEST_ID, DELIVERY)).toMatchObject([
      { number: 1, status: 503 },
      { number: 2, status: 503 },
    ]);
  });

  test('draws each wait at random, within a tenth of the schedule', async () => {
    receiver.respond = answering(503);
    const waits = [];
    for (const delivery of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) {
      waits.push((await handler({ ...input, delivery }, aLambdaContext())) as { waitSeconds: number });
    }

    for (const { waitSeconds } of waits) expect(Math.abs(waitSeconds - 100)).toBeLessThanOrEqual(10);
    expect(new Set(waits.map(({ waitSeconds }) => waitSeconds)).size).toBeGreaterThan(1);
  });

  test.each([
    {},
    { requestId: REQUEST_ID },
    { delivery: DELIVERY },
    { requestId: 7, delivery: DELIVERY, attemptsMade: 0 },
  ])('refuses %p: it needs a request and a delivery', async (wrong) => {
    await expect(handler(wrong, aLambdaContext())).rejects.toThrow();
    expect(memory.calls()).toEqual({});
    expect(receiver.connections).toBe(0);
  });
});
