import { describe, expect, test } from '@jest/globals';
import { createRequest } from '../../../../core/creation/create-request.ts';
import { writeCreation } from '../../../../core/creation/write-creation.ts';
import type { EndUser } from '../../../../core/end-users/end-users.ts';
import {
  AccountBlockedError,
  ConflictError,
  ForbiddenError,
  RateLimitedError,
} from '../../../../core/errors.ts';
import { accountKey, endUserKey, requestKey } from '../../../../core/table/keys.ts';
import { NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAccount, anEndUser, EMAIL, putEndUser } from '../../builders/entities.ts';
import { anImageSubmission, theFacts } from '../../builders/submissions.ts';
import { cancelled, tableError } from '../../builders/table-errors.ts';
import { account, endUser, entries, executions, memory } from './a-creation.ts';

/** Creates one image of 6 xTokens for an account as it was read. */
const create = (seen = anAccount(), endUser?: EndUser, idempotencyKey?: string) =>
  createRequest(seen, anImageSubmission({}, { idempotencyKey }), theFacts({ endUser }));

describe('a creation that races another process', () => {
  const meanwhile = (change: () => void) => {
    memory.beforeTransaction = (attempt) => {
      if (attempt === 1) change();
    };
  };
  const nothingKept = (requestsBefore?: number) => {
    expect(entries()).toEqual([]);
    expect(endUser()?.totalRequests).toBe(requestsBefore);
    expect(executions.started).toEqual([]);
  };

  test('builds on the balance it finds', async () => {
    meanwhile(() => memory.patch(accountKey(ACCOUNT_ID), { balanceThousandths: 7_000, ledgerEntries: 8 }));

    const { requestId } = (await create()).request;

    expect(account()).toMatchObject({ balanceThousandths: 1_000, ledgerEntries: 9 });
    expect(entries()).toMatchObject([{ number: 9, balanceAfterThousandths: 1_000, reference: requestId }]);
    expect(memory.transactions).toHaveLength(2);
  });

  test('is refused when the remaining balance does not cover it', async () => {
    meanwhile(() => memory.patch(accountKey(ACCOUNT_ID), { balanceThousandths: 5_999, ledgerEntries: 4 }));

    await expect(create()).rejects.toThrow(
      expect.objectContaining({
        ...{ name: 'PaymentRequiredError' },
        message: 'This request costs 6 xTokens; the balance is 5.999 xTokens.',
      }),
    );
    nothingKept();
  });

  test.each<[string, object, new (message: string) => Error]>([
    ['was blocked', { blockedAt: NOW.toISOString() }, ForbiddenError],
    ['is being removed', { deletingAt: NOW.toISOString() }, ConflictError],
    [
      'is blocked and being removed',
      { blockedAt: NOW.toISOString(), deletingAt: NOW.toISOString() },
      ForbiddenError,
    ],
  ])('is refused when its end-user %s', async (_, state, refusal) => {
    meanwhile(() => memory.put(endUserKey(ACCOUNT_ID, EMAIL), { ...anEndUser(), ...state }));

    await expect(create()).rejects.toThrow(refusal);
    nothingKept(anEndUser().totalRequests);
    expect(account()).toMatchObject({ balanceThousandths: 100_000, ledgerEntries: 3 });
  });

  describe('with its end-user', () => {
    const requestOf = async (seen?: EndUser) =>
      memory.get(requestKey((await create(anAccount(), seen)).request.requestId));
    const later = new Date(NOW.getTime() + 250).toISOString();
    const own = anEndUser({ endUserId: 'own' });

    test('builds on the end-user it finds, whose last activity only gets later', async () => {
      meanwhile(() => putEndUser(memory, { ...own, lastActiveAt: later }));

      expect(await requestOf()).toMatchObject({ endUserId: 'own' });
      expect(endUser()).toMatchObject({ lastActiveAt: later, totalRequests: own.totalRequests + 1 });
    });

    test('is of another end-user when the one it saw was removed', async () => {
      const request = await requestOf(own);

      expect(request).toMatchObject({ endUserId: request?.requestId });
      expect(endUser()).toMatchObject({ endUserId: request?.requestId, totalRequests: 1 });
    });
  });

  test('is refused at once where it read too little, and nothing more is read', async () => {
    const submission = anImageSubmission({});
    const { request } = await create();
    memory.client.resetHistory();

    await expect(
      writeCreation({
        ...{ kind: 'judged', request: { ...request, requestId: 'img_new' }, endUser: undefined },
        ...{ account: anAccount({ balanceThousandths: 5_999 }), idempotency: submission.idempotency },
        ...{ work: [], keyId: submission.keyId, now: NOW },
      }),
    ).rejects.toMatchObject({ code: 'payment_required' });
    expect(memory.calls()).toEqual({});
  });

  test('is not made for an end-user that cannot be read', async () => {
    meanwhile(() => memory.put(endUserKey(ACCOUNT_ID, EMAIL), { ...anEndUser(), createdAt: 7 }));

    await expect(create()).rejects.toMatchObject({ name: 'OutcomeUnknownError', code: 'internal_error' });
    nothingKept(anEndUser().totalRequests);
  });

  test('is refused when its account was blocked', async () => {
    meanwhile(() => memory.patch(accountKey(ACCOUNT_ID), { blockedAt: NOW.toISOString() }));

    await expect(create()).rejects.toThrow(AccountBlockedError);
    nothingKept();
  });

  /** Commits the first attempt and loses its answer with an error. Later attempts find this change and meet an error themselves. */
  const unheard = (
    lost: Error,
    change: Record<string, unknown> = {},
    later = cancelled('TransactionConflict'),
  ) => {
    memory.afterTransaction = () => {
      memory.beforeTransaction = () => {
        memory.patch(accountKey(ACCOUNT_ID), change);
        throw later;
      };
      throw lost;
    };
  };
  const IN_PROGRESS = tableError('TransactionInProgressException');
  const repeatedBySdk = cancelled('ThrottlingError');
  repeatedBySdk.$metadata.attempts = 2;
  const answeredOnce = (lost: Error) => {
    memory.afterTransaction = (attempt) => {
      if (attempt === 1) throw lost;
    };
  };

  test.each<[string, () => void, attempts: number | undefined]>([
    ['the response of the committed attempt was lost', () => answeredOnce(IN_PROGRESS), undefined],
    ['its only attempt was committed and not answered', () => answeredOnce(tableError('TimeoutError')), 1],
    [
      'its only attempt was committed and got a 500',
      () => answeredOnce(tableError('InternalServerError')),
      1,
    ],
    ['the account is blocked after it', () => unheard(IN_PROGRESS, { blockedAt: 'x' }), undefined],
    ['the balance is spent after it', () => unheard(IN_PROGRESS, { balanceThousandths: 0 }), undefined],
    [
      'its answer was lost between the SDK’s attempts and the table is busy after it',
      () => unheard(repeatedBySdk, {}, cancelled('ThrottlingError')),
      undefined,
    ],
  ])('is accepted once when %s', async (_, given, attempts) => {
    given();

    const { requestId } = (await create()).request;

    expect(entries()).toMatchObject([{ number: 4, balanceAfterThousandths: 94_000, reference: requestId }]);
    expect(account()).toMatchObject({ ledgerEntries: 4 });
    expect(executions.started).toHaveLength(1);
    if (attempts !== undefined) expect(memory.transactions).toHaveLength(attempts);
  });

  test('with a key is no replay of itself when it was committed unheard and took the balance', async () => {
    unheard(IN_PROGRESS, { balanceThousandths: 0 });

    const { request, replayed } = await create(anAccount(), undefined, 'key-1');

    expect(replayed).toBe(false);
    expect(entries()).toMatchObject([{ number: 4, reference: request.requestId }]);
    expect(executions.started).toHaveLength(1);
  });

  test('answers 429 and writes nothing while the account stays contended', async () => {
    let others = 3;
    memory.beforeTransaction = () => memory.patch(accountKey(ACCOUNT_ID), { ledgerEntries: ++others });

    await expect(create()).rejects.toThrow(RateLimitedError);
    nothingKept();
  });

  const afterFourTries = cancelled('ThrottlingError');
  afterFourTries.$metadata.attempts = 4;
  test.each([
    ['the table still works on an attempt', tableError('TransactionInProgressException')],
    ['one of the SDK’s attempts may have reached the table', afterFourTries],
    ['its only attempt was not answered', tableError('TimeoutError')],
  ])('is not refused but has an unknown outcome when %s', async (_, error) => {
    memory.beforeTransaction = () => {
      throw error;
    };

    await expect(create()).rejects.toThrow(
      expect.objectContaining({ name: 'OutcomeUnknownError', code: 'internal_error' }),
    );
    nothingKept();
  });

  test('of 40, with a balance for exactly 15, is accepted 15 times, and the ledger has no gap', async () => {
    memory.patch(accountKey(ACCOUNT_ID), { balanceThousandths: 90_000, ledgerEntries: 0 });
    const seen = anAccount({ balanceThousandths: 90_000, ledgerEntries: 0 });

    const settled = await Promise.allSettled(Array.from({ length: 40 }, () => create(seen)));

    const reasons = settled.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []));
    expect(reasons).toEqual(Array(25).fill('payment_required'));
    expect(entries().map((entry) => [entry.number, entry.balanceAfterThousandths])).toEqual(
      Array.from({ length: 15 }, (_, index) => [index + 1, 90_000 - 6_000 * (index + 1)]),
    );
    expect(account()).toMatchObject({ balanceThousandths: 0, ledgerEntries: 15 });
    expect(endUser()).toMatchObject({ totalRequests: 15, spentThousandths: 90_000 });
    expect(executions.started).toHaveLength(15);
  });
});
