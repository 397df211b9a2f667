import { describe, expect, test } from '@jest/globals';
import { toAccount } from '../../../../core/accounts/accounts.ts';
import { createRequest } from '../../../../core/creation/create-request.ts';
import { idempotencyOf } from '../../../../core/creation/idempotency.ts';
import { loadCreationFacts } from '../../../../core/creation/judge-creation.ts';
import { writeCreation } from '../../../../core/creation/write-creation.ts';
import { deleteRequest } from '../../../../core/deletion/delete-requests.ts';
import { endRequest } from '../../../../core/ending/end-request.ts';
import { failedBeforeStoring } from '../../../../core/ending/failed.ts';
import { toRequest } from '../../../../core/requests/requests.ts';
import { accountKey, endUserKey, idempotencyKey, pauseKey, requestKey } from '../../../../core/table/keys.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anAccount,
  anEndUser,
  EMAIL,
  KEY_ID,
  putEndUser,
  putModelSettings,
} from '../../builders/entities.ts';
import { anImageSubmission } from '../../builders/submissions.ts';
import '../../fakes/fresh-secrets.ts';
import { account, endUser, entries, executions, memory } from './a-creation.ts';

const KEY = 'key-1';
const keyItem = () => idempotencyKey(ACCOUNT_ID, idempotencyOf(KEY, '', {}).keyDigest);
const theAccount = () => toAccount(account() ?? {});

/** Creates as the route does: reads, then the creation. `seen` is the account as it was read. */
const create = async (
  body: Record<string, unknown> = {},
  now = NOW,
  seen = theAccount(),
  key: string | undefined = KEY,
) => {
  const submission = anImageSubmission(body, { idempotencyKey: key, now });
  return createRequest(seen, submission, await loadCreationFacts(ACCOUNT_ID, submission));
};
const changedNothing = async (act: () => Promise<unknown>) => {
  const before = structuredClone([account(), entries(), endUser(), executions.started.length]);
  await act();
  expect([account(), entries(), endUser(), executions.started.length]).toEqual(before);
};

describe('a creation with an Idempotency-Key', () => {
  test('writes the record of the key in the transaction of the debit', async () => {
    const { request, replayed } = await create();

    expect(replayed).toBe(false);
    expect(memory.transactions).toHaveLength(1);
    expect(memory.transactions[0]?.TransactItems).toHaveLength(5);
    expect(memory.get(keyItem())).toEqual({
      PK: `IDEMPOTENCY#${ACCOUNT_ID}`,
      SK: expect.stringMatching(/^KEY#[0-9a-f]{64}$/),
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      requestId: request.requestId,
      keptUntil: atSeconds(86_400).toISOString(),
      ttl: NOW.getTime() / 1000 + 86_400,
    });
  });

  test('is answered with the first one when repeated, and writes nothing', async () => {
    const { request } = await create();

    await changedNothing(async () => {
      expect(await create()).toMatchObject({ request, replayed: true });
    });
  });

  test('is answered with the first one even after that failed', async () => {
    const { request } = await create();
    await endRequest(request.requestId, failedBeforeStoring({ code: 'provider_timeout', message: 'late' }));

    const again = await create({}, atSeconds(5));
    expect(again).toMatchObject({
      replayed: true,
      request: { requestId: request.requestId, status: 'failed' },
    });
  });

  test.each<[string, () => void]>([
    ['its model was switched off', () => putModelSettings(memory, { model: 'xQI3Pro', enabled: false })],
    ['its end-user was blocked', () => memory.patch(endUserKey(ACCOUNT_ID, EMAIL), { blockedAt: 'x' })],
    ['its end-user is being removed', () => memory.patch(endUserKey(ACCOUNT_ID, EMAIL), { deletingAt: 'x' })],
    [
      'its end-user is paused',
      () =>
        memory.put(pauseKey({ accountId: ACCOUNT_ID, email: EMAIL, model: 'xQI3Pro' }), {
          until: atSeconds(9).toISOString(),
        }),
    ],
    ['nothing is left', () => memory.patch(accountKey(ACCOUNT_ID), { balanceThousandths: 0 })],
  ])('is answered with the first one although %s', async (_, change) => {
    const { request } = await create();
    change();

    // By then no cached setting is used any more.
    expect(await create({}, atSeconds(5))).toMatchObject({ request, replayed: true });
  });

  test('and another valid body is a conflict', async () => {
    await create();

    await changedNothing(async () => {
      await expect(create({ n: 2 })).rejects.toMatchObject({ code: 'conflict' });
      await expect(create({ n: 0 })).rejects.toMatchObject({ code: 'validation_error' });
    });
  });

  test('and another body is a conflict before end-user, pause and price are checked', async () => {
    await create();
    putEndUser(memory, anEndUser({ blockedAt: NOW.toISOString() }));
    memory.patch(accountKey(ACCOUNT_ID), { balanceThousandths: 0 });

    await expect(create({ n: 2 })).rejects.toMatchObject({ code: 'conflict' });
  });

  test('whose request was deleted is a conflict', async () => {
    const { request } = await create();
    await endRequest(request.requestId, failedBeforeStoring({ code: 'provider_error', message: 'no' }));
    await deleteRequest(ACCOUNT_ID, request.requestId, NOW);

    await changedNothing(async () => {
      await expect(create()).rejects.toMatchObject({ code: 'conflict' });
    });
  });

  test.each([
    [86_399.999, true],
    [86_400, false],
    // The table removes a record up to days after its end.
    [200_000, false],
  ])('repeated %p s later is answered with the first one: %p', async (seconds, expected) => {
    const { request } = await create();
    const again = await create({}, atSeconds(seconds));

    expect(again.replayed).toBe(expected);
    expect(again.request.requestId === request.requestId).toBe(expected);
    expect(entries()).toHaveLength(expected ? 1 : 2);
    expect(memory.get(keyItem())).toMatchObject({ requestId: again.request.requestId });
  });

  test('counts for its account only, and other keys are other creations', async () => {
    const { request } = await create();
    const other = 'acc_01JD4KXQ8M0000000000000009';
    memory.put(accountKey(other), anAccount({ accountId: other }));

    const facts = await loadCreationFacts(other, anImageSubmission({}, { idempotencyKey: KEY }));
    expect(facts.idempotencyRecord).toBeUndefined();
    expect((await create({}, NOW, theAccount(), 'key-2')).request.requestId).not.toBe(request.requestId);
    expect((await create({}, NOW, theAccount(), 'KEY-1')).replayed).toBe(false);
  });

  test('that was refused is not remembered: it can be repeated', async () => {
    await expect(create({}, NOW, anAccount({ balanceThousandths: 0 }))).rejects.toMatchObject({
      code: 'payment_required',
    });
    expect(memory.get(keyItem())).toBeUndefined();

    expect((await create()).replayed).toBe(false);
  });
});

describe('creations with one key at the same time', () => {
  const seen = anAccount();

  test('make one request and one debit when there are ten; nine are replayed', async () => {
    const created = await Promise.all(Array.from({ length: 10 }, () => create({}, NOW, seen)));

    const ids = new Set(created.map(({ request }) => request.requestId));
    expect(ids.size).toBe(1);
    expect(created.filter(({ replayed }) => replayed)).toHaveLength(9);
    expect(entries()).toMatchObject([{ reference: [...ids][0], amountThousandths: 6_000 }]);
    expect(account()).toMatchObject({ balanceThousandths: 94_000, ledgerEntries: 4 });
    expect(endUser()).toMatchObject({ totalRequests: 1, activeRequests: 1 });
    expect(executions.started).toHaveLength(1);
    for (const { request } of created) {
      expect(toRequest(memory.get(requestKey(request.requestId)) ?? {})).toMatchObject(request);
    }
  });

  test('are one even if the balance covers one and all ten read it before', async () => {
    memory.patch(accountKey(ACCOUNT_ID), { balanceThousandths: 6_000 });
    const poor = anAccount({ balanceThousandths: 6_000 });

    const created = await Promise.all(Array.from({ length: 10 }, () => create({}, NOW, poor)));

    expect(created.filter(({ replayed }) => replayed)).toHaveLength(9);
    expect(account()).toMatchObject({ balanceThousandths: 0, ledgerEntries: 4 });
  });

  test('are one even for a repetition that finds the balance spent by the first', async () => {
    memory.patch(accountKey(ACCOUNT_ID), { balanceThousandths: 6_000 });
    const submission = anImageSubmission({}, { idempotencyKey: KEY });
    const { request } = await create();

    const again = await writeCreation({
      kind: 'judged',
      request: { ...request, requestId: 'img_again' },
      ...{ account: theAccount(), endUser: undefined, idempotency: submission.idempotency },
      ...{ work: [], keyId: KEY_ID, now: NOW },
    });

    expect(again).toEqual({ kind: 'repeated', requestId: request.requestId });
    expect(entries()).toHaveLength(1);
  });

  test('and two bodies make one request; the other body is a conflict', async () => {
    const settled = await Promise.allSettled([1, 2, 1, 2].map((n) => create({ n }, NOW, seen)));

    const outcomes = settled.map((each) =>
      each.status === 'fulfilled' ? each.value.replayed : each.reason.code,
    );
    expect(outcomes).toEqual([false, 'conflict', true, 'conflict']);
    expect(entries()).toHaveLength(1);
  });
});
