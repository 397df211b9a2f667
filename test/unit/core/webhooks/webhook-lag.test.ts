import '../../builders/environment.ts';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { logger } from '../../../../core/observability.ts';
import { deliverWebhook } from '../../../../core/webhooks/deliver-webhook.ts';
import { newDeliverySuffix } from '../../../../core/webhooks/webhook-rules.ts';
import { atSeconds, StoppedClock } from '../../builders/clocks.ts';
import { ACCOUNT_ID, REQUEST_ID } from '../../builders/entities.ts';
import { putFailedRequest, receiver } from '../../builders/webhook-world.ts';
import { trafficCounted } from '../../fakes/metrics.ts';
import { answering } from '../../servers/webhook-receiver.ts';

process.env.WEBHOOK_RETRY_SECONDS = '5,300';
beforeEach(() => void putFailedRequest());
const deliver = (seconds: number, delivery = REQUEST_ID) =>
  deliverWebhook(REQUEST_ID, delivery, new StoppedClock(atSeconds(seconds)), () => 0.5);

describe('the seconds from the end of a request to its webhook', () => {
  test('are counted at the first attempt, which no receiver can delay', async () => {
    const counted = trafficCounted();
    receiver.respond = answering(503);

    await deliver(7);
    await deliver(12);
    await deliver(400, `${REQUEST_ID}${newDeliverySuffix(atSeconds(400))}`);

    expect(counted()).toEqual([['WebhookLag', {}, 7]]);
  });

  test('are in the line of each attempt, with the ids of request, account and delivery', async () => {
    const info = jest.spyOn(logger, 'info').mockClear();

    await deliver(7);

    const ids = { requestId: REQUEST_ID, accountId: ACCOUNT_ID, delivery: REQUEST_ID };
    expect(info.mock.calls).toEqual([
      ['webhook attempted', { ...ids, number: 1, sinceEndSeconds: 7, milliseconds: 0, status: 204 }],
    ]);
  });
});
