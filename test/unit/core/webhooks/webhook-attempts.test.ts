import { QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import {
  claimAttempt,
  closeFirstAttempt,
  findAttempt,
  insertFirstAttemptWrite,
  listWebhookAttempts,
  recordAttempt,
} from '../../../../core/deliveries/webhook-attempts.ts';
import { webhookAttemptKey, webhookAttemptsEndKey } from '../../../../core/table/keys.ts';
import { atSeconds, NOW, StoppedClock } from '../../builders/clocks.ts';
import { REQUEST_ID, VIDEO_ID } from '../../builders/entities.ts';
import { putAttempt } from '../../builders/next-attempt.ts';
import { cancelled } from '../../builders/table-errors.ts';
import { aWebhookAttempt } from '../../builders/webhooks.ts';
import { memory } from '../../fakes/fresh-table.ts';

const AGAIN = `${REQUEST_ID}-01JD4KXQ8M0000000000000009`;

const NAME = { requestId: REQUEST_ID, delivery: REQUEST_ID, number: 2 };
const AT = NOW.toISOString();
const clock = new StoppedClock();

describe('an attempt', () => {
  test('is stored apart from its request for as long as provider attempts are', async () => {
    await claimAttempt(NAME, AT, false);
    await recordAttempt(aWebhookAttempt({ number: 2, status: 503 }), false);

    expect(memory.get(webhookAttemptKey(REQUEST_ID, REQUEST_ID, 2))).toStrictEqual({
      PK: `WEBHOOK_ATTEMPTS#${REQUEST_ID}`,
      SK: `WEBHOOK#${REQUEST_ID}#002`,
      ...aWebhookAttempt({ number: 2, status: 503 }),
      claimId: expect.any(String),
      ttl: NOW.getTime() / 1000 + 100 * 86_400,
    });
  });

  test('is claimed by one, and not for a request that was deleted', async () => {
    expect(await Promise.all([1, 2, 3].map(() => claimAttempt(NAME, AT, false)))).toEqual(
      expect.arrayContaining([true, false, false]),
    );
    memory.put(webhookAttemptsEndKey(REQUEST_ID), {});

    expect(await claimAttempt({ ...NAME, number: 3 }, AT, false)).toBe(false);
    expect(memory.get(webhookAttemptKey(REQUEST_ID, REQUEST_ID, 3))).toBeUndefined();
  });

  test('is claimed although the answer to the claim was lost', async () => {
    let isLost = false;
    memory.beforeTransaction = () => undefined;
    memory.afterTransaction = () => {
      if (isLost) return;
      isLost = true;
      throw cancelled('TransactionConflict', 'None');
    };

    expect(await claimAttempt(NAME, AT, false)).toBe(true);
  });

  test('that is listed as the first one is claimed by one, unless its request was deleted', async () => {
    const first = { ...NAME, number: 1 };
    memory.put(
      webhookAttemptKey(REQUEST_ID, REQUEST_ID, 1),
      insertFirstAttemptWrite(REQUEST_ID, AT).Put?.Item ?? {},
    );

    expect(await findAttempt(first, clock)).toEqual({ kind: 'open', isWritten: true });
    expect(await Promise.all([1, 2].map(() => claimAttempt(first, AT, true)))).toEqual([true, false]);
    memory.remove(webhookAttemptKey(REQUEST_ID, REQUEST_ID, 1));
    expect(await claimAttempt(first, AT, true)).toBe(false);
    await recordAttempt(aWebhookAttempt(), true);
    expect(memory.get(webhookAttemptKey(REQUEST_ID, REQUEST_ID, 1))).toBeUndefined();
  });
});

describe('the first attempt of an event', () => {
  const first = { ...NAME, number: 1 };
  const key = webhookAttemptKey(REQUEST_ID, REQUEST_ID, 1);
  const stored = () => memory.get(key);
  const given = () => memory.put(key, insertFirstAttemptWrite(REQUEST_ID, AT).Put?.Item ?? {});

  test('is claimed although the answer to the claim was lost', async () => {
    given();
    memory.client.on(UpdateCommand).callsFake((input) => {
      memory.update(input);
      return memory.update(input);
    });

    expect(await claimAttempt(first, AT, true)).toBe(true);
    expect(await claimAttempt(first, AT, true)).toBe(false);
  });

  test.each([
    [59.999, 'under-way'],
    [60, 'made'],
  ])('that was claimed %p s ago is %s', async (seconds, kind) => {
    given();
    await claimAttempt(first, AT, true);

    const state = await findAttempt(first, new StoppedClock(atSeconds(seconds)));

    expect(state.kind).toBe(kind);
    const lost = { milliseconds: 60_000, error: 'interrupted' };
    if (kind === 'made')
      expect(stored()).toMatchObject({ ...lost, startedAt: AT, GSI1SK: expect.anything() });
    else expect(stored()).not.toHaveProperty('milliseconds');
  });

  test('leaves the due list with its result once nothing follows, or by itself', async () => {
    given();
    const { GSI1PK: _, GSI1SK: __, ...unlisted } = stored() ?? {};
    await recordAttempt(aWebhookAttempt({ status: 503 }), false);
    expect(stored()).toMatchObject({ GSI1PK: expect.anything(), GSI1SK: expect.anything(), status: 503 });

    await recordAttempt(aWebhookAttempt({ status: 200 }), true);
    for (const gone of ['GSI1PK', 'GSI1SK']) expect(stored()).not.toHaveProperty(gone);

    given();
    await closeFirstAttempt(REQUEST_ID);
    expect(stored()).toEqual(unlisted);
    memory.remove(key);
    await closeFirstAttempt(REQUEST_ID);
    expect(stored()).toBeUndefined();
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
    for (const attempt of attempts) putAttempt(memory, attempt);
    memory.itemsPerQuery = 2;

    const listed = await listWebhookAttempts(REQUEST_ID);

    expect(listed.map(({ startedAt }) => startedAt)).toEqual(
      [0, 100, 200, 300, 400].map((seconds) => atSeconds(seconds).toISOString()),
    );
    expect(memory.calls().QueryCommand).toBeGreaterThan(1);
  });

  test('can be those of one delivery, even when its name begins another one’s', async () => {
    const [own, again] = [aWebhookAttempt(), aWebhookAttempt({ delivery: AGAIN })];
    for (const attempt of [own, again]) putAttempt(memory, attempt);
    putAttempt(memory, aWebhookAttempt({ requestId: VIDEO_ID, delivery: VIDEO_ID }));
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
