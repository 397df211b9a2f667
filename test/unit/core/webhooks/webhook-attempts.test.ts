import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { webhookAttemptKey, webhookAttemptsEndKey } from '../../../../core/table/keys.ts';
import { listWebhookAttempts, putWebhookAttempt } from '../../../../core/webhooks/webhook-attempts.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { REQUEST_ID, VIDEO_ID } from '../../builders/entities.ts';
import { cancelled } from '../../builders/table-errors.ts';
import { aWebhookAttempt } from '../../builders/webhooks.ts';
import { memory } from '../../fakes/fresh-table.ts';

const AGAIN = `${REQUEST_ID}-01JD4KXQ8M0000000000000009`;

describe('an attempt', () => {
  test('is stored apart from its request for as long as provider attempts are', async () => {
    await putWebhookAttempt(aWebhookAttempt({ number: 2, status: 503 }));

    expect(memory.get(webhookAttemptKey(REQUEST_ID, REQUEST_ID, 2))).toStrictEqual({
      PK: `WEBHOOK_ATTEMPTS#${REQUEST_ID}`,
      SK: `WEBHOOK#${REQUEST_ID}#002`,
      ...aWebhookAttempt({ number: 2, status: 503 }),
      ttl: NOW.getTime() / 1000 + 100 * 86_400,
    });
  });

  test('is not stored when its request was deleted before the write, or between two attempts of the write', async () => {
    memory.beforeTransaction = (attempt) => {
      if (attempt === 1) throw cancelled('TransactionConflict', 'None');
      memory.put(webhookAttemptsEndKey(REQUEST_ID), {});
    };

    await putWebhookAttempt(aWebhookAttempt());
    await putWebhookAttempt(aWebhookAttempt());

    expect(await listWebhookAttempts(REQUEST_ID)).toEqual([]);
  });

  test('of a repeated step overwrites the first', async () => {
    await putWebhookAttempt(aWebhookAttempt({ status: 500 }));
    await putWebhookAttempt(aWebhookAttempt({ status: 204, startedAt: atSeconds(3).toISOString() }));

    expect(await listWebhookAttempts(REQUEST_ID)).toEqual([
      aWebhookAttempt({ status: 204, startedAt: atSeconds(3).toISOString() }),
    ]);
  });
});

describe('the attempts of a request', () => {
  test('are listed in time order over all its deliveries and all pages', async () => {
    // In key order, which is not time order.
    const attempts = [
      aWebhookAttempt({ number: 1, startedAt: atSeconds(0).toISOString() }),
      aWebhookAttempt({ number: 2, startedAt: atSeconds(200).toISOString() }),
      aWebhookAttempt({ number: 3, startedAt: atSeconds(400).toISOString() }),
      aWebhookAttempt({ delivery: AGAIN, number: 1, startedAt: atSeconds(100).toISOString() }),
      aWebhookAttempt({ delivery: AGAIN, number: 2, startedAt: atSeconds(300).toISOString() }),
    ];
    for (const attempt of attempts) await putWebhookAttempt(attempt);
    memory.itemsPerQuery = 2;

    const listed = await listWebhookAttempts(REQUEST_ID);

    expect(listed.map(({ startedAt }) => startedAt)).toEqual(
      [0, 100, 200, 300, 400].map((seconds) => atSeconds(seconds).toISOString()),
    );
    expect(memory.calls().QueryCommand).toBeGreaterThan(1);
  });

  test('can be those of one delivery, even when its name begins another one’s', async () => {
    const [own, again] = [aWebhookAttempt(), aWebhookAttempt({ delivery: AGAIN })];
    for (const attempt of [own, again]) await putWebhookAttempt(attempt);
    await putWebhookAttempt(aWebhookAttempt({ requestId: VIDEO_ID, delivery: VIDEO_ID }));
    memory.put({ PK: `REQUEST#${REQUEST_ID}`, SK: 'ATTEMPT#00#00' }, { requestId: REQUEST_ID });

    expect(await listWebhookAttempts(REQUEST_ID, REQUEST_ID)).toEqual([own]);
    expect(await listWebhookAttempts(REQUEST_ID, AGAIN)).toEqual([again]);
    expect(await listWebhookAttempts(REQUEST_ID)).toHaveLength(2);
  });

  test('are read consistently, so that a step sees the attempt before it', async () => {
    await listWebhookAttempts(REQUEST_ID);
    await listWebhookAttempts(REQUEST_ID, AGAIN);

    const queries = memory.client.commandCalls(QueryCommand).map(({ args }) => args[0].input);
    expect(queries.map(({ ConsistentRead }) => ConsistentRead)).toEqual([true, true]);
  });
});
