import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { getAccount } from '../../../../core/accounts/accounts.ts';
import { deleteRequest } from '../../../../core/deletion/delete-requests.ts';
import { endRequest } from '../../../../core/ending/end-request.ts';
import { failedBeforeStoring } from '../../../../core/ending/failed.ts';
import { settled } from '../../../../core/ending/settled.ts';
import { changeBalance } from '../../../../core/ledger/change-balance.ts';
import { balanceChangeWrites } from '../../../../core/ledger/ledger.ts';
import type { LedgerReason } from '../../../../core/ledger/ledger-reasons.ts';
import { verifyLedger } from '../../../../core/ledger/verify-ledger.ts';
import type { ImageRequest } from '../../../../core/requests/request-rules.ts';
import { insertRequestWrite } from '../../../../core/requests/requests.ts';
import { accountKey, deletedRequestKey, ledgerEntryKey, requestKey } from '../../../../core/table/keys.ts';
import { transact } from '../../../../core/table/transactions.ts';
import { atSeconds, NOW, StoppedClock } from '../../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anAccount,
  anEndUser,
  anImageRequest,
  aStoredOutput,
  putEndUser,
} from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { bucket } from '../../fakes/fresh-bucket.ts';
import { executions } from '../../fakes/fresh-executions.ts';
import { memory } from '../../fakes/fresh-table.ts';

jest.spyOn(Math, 'random').mockReturnValue(0);

const given = (): void => {
  memory.reset();
  bucket.reset();
  executions.reset();
  memory.put(accountKey(ACCOUNT_ID), anAccount({ balanceThousandths: 0, ledgerEntries: 0 }));
  putEndUser(memory, anEndUser());
};
beforeEach(given);

const idOf = (number: number): string => `img_01JD4KXQ8M${String(number).padStart(16, '0')}`;
const DAY = 86_400;
const clock = new StoppedClock();

const topUp = (amountThousandths = 1_000_000) =>
  changeBalance(ACCOUNT_ID, { amountThousandths, reason: 'topup', reference: 'invoice' }, NOW);

/** Changes the balance as a bug might. */
const book = (reason: LedgerReason, amountThousandths: number, number: number, now = NOW) =>
  transact(async () => {
    const change = { reason, amountThousandths, reference: idOf(number), retentionDays: 90 };
    return balanceChangeWrites(await getAccount(ACCOUNT_ID), change, now).writes;
  });
/** Accepts a request for two images. */
const create = async (number: number, overrides: Partial<ImageRequest> = {}): Promise<void> => {
  const request = anImageRequest({ requestId: idOf(number), images: 2, status: 'processing', ...overrides });
  const { debitThousandths, requestId: reference, retentionDays } = request;
  const amountThousandths = -debitThousandths;
  const change = { amountThousandths, reason: 'generation', reference, retentionDays } as const;
  await transact(async () => {
    const { entry, writes } = balanceChangeWrites(await getAccount(ACCOUNT_ID), change, NOW);
    return [...writes, insertRequestWrite({ ...request, debitEntryNumber: entry.number })];
  });
};
/** Ends a request of which so many images were stored. */
const settle = async (number: number, delivered: number): Promise<void> => {
  const outputs = Array.from({ length: delivered }, (_, index) => aStoredOutput(index));
  memory.patch(requestKey(idOf(number)), { outputs });
  await endRequest(idOf(number), settled, { clock });
};
const fail = (number: number) =>
  endRequest(idOf(number), failedBeforeStoring({ code: 'provider_error', message: 'It broke.' }), { clock });
const remove = (number: number) => deleteRequest(ACCOUNT_ID, idOf(number), NOW);

const verify = (now = NOW) => verifyLedger([{ accountId: ACCOUNT_ID }], new StoppedClock(now));
const problems = async (now = NOW) =>
  (await verify(now)).problems.map(({ kind, detail }) => [kind, detail.split(' ')[1]]);

const MARK = deletedRequestKey(ACCOUNT_ID, idOf(4));
/** A ledger with one request of every sort. */
const givenOneOfEach = async (): Promise<void> => {
  await topUp();
  for (const number of [1, 2, 3, 4, 5]) await create(number);
  await settle(1, 2);
  await settle(2, 1);
  await fail(3);
  await settle(4, 1);
  await remove(4);
};

describe('verifying a ledger', () => {
  test('counts the accounts and the entries it read, over any number of pages', async () => {
    await givenOneOfEach();
    memory.itemsPerQuery = 2;
    const empty = anAccount({ accountId: 'acc_2', balanceThousandths: 0, ledgerEntries: 0 });
    memory.put(accountKey('acc_2'), empty);

    const accounts = [{ accountId: ACCOUNT_ID }, { accountId: 'acc_2' }];

    // The top-up, five debits, and the refunds of the second, third and fourth.
    expect(await verifyLedger(accounts, clock)).toEqual({ accounts: 2, entries: 9, problems: [] });
  });

  test('finds requests that the index does not list yet', async () => {
    await givenOneOfEach();
    for (const number of [1, 3]) {
      const { GSI2PK: _, ...request } = memory.get(requestKey(idOf(number))) ?? {};
      memory.put(requestKey(idOf(number)), { ...request, refundThousandths: 1 });
    }

    expect(await problems(atSeconds(300))).toEqual(
      expect.arrayContaining([
        ['refund_amount', idOf(1)],
        ['refund_amount', idOf(3)],
      ]),
    );
  });

  test('finds a request without a debit, also one that names none', async () => {
    await givenOneOfEach();
    const insert = (number: number, names: Partial<ImageRequest>) =>
      transact(() => [insertRequestWrite(anImageRequest({ requestId: idOf(number), ...names }))]);
    await insert(8, { debitEntryNumber: 10 });
    await insert(9, {});

    expect(await problems()).toEqual([
      ['debit_missing', idOf(9)],
      ['debit_missing', idOf(8)],
    ]);
  });

  test('finds a second refund of a request that was deleted', async () => {
    await givenOneOfEach();
    await fail(5);
    await remove(5);
    expect(await problems()).toEqual([]);

    await book('refund', 8_000, 5, atSeconds(DAY));

    expect(await problems(atSeconds(2 * DAY))).toEqual([
      ['refund_repeated', idOf(5)],
      ['refund_over_debit', idOf(5)],
      ['refund_amount', idOf(5)],
    ]);
    expect(await problems(atSeconds(900 * DAY))).not.toEqual([]);
  });

  test('finds a second refund of a request that is past its retention, as long as a refund keeps a request', async () => {
    await givenOneOfEach();
    memory.remove(requestKey(idOf(3)));
    expect(await problems(atSeconds(91 * DAY))).toEqual([]);

    await book('refund', 8_000, 3, atSeconds(91 * DAY));

    expect(await problems(atSeconds(92 * DAY))).toContainEqual(['refund_without_request', idOf(3)]);
    expect(await problems(atSeconds(180 * DAY))).toContainEqual(['refund_without_request', idOf(3)]);
  });

  test.each<[string, () => unknown, string[][]]>([
    ['no mark of a deleted request', () => memory.remove(MARK), [['debit_without_request', idOf(4)]]],
    [
      'a mark that cannot be read, and goes on',
      () => {
        memory.patch(MARK, { accounted: { status: 7 } });
        memory.patch(requestKey(idOf(3)), { refundThousandths: 1 });
      },
      [
        ['refund_amount', idOf(3)],
        ['debit_without_request', idOf(4)],
      ],
    ],
    [
      'a request of another account, which is none',
      () => memory.patch(requestKey(idOf(1)), { accountId: 'acc_2' }),
      [['debit_without_request', idOf(1)]],
    ],
    [
      'an entry that the counter does not count',
      () => memory.patch(accountKey(ACCOUNT_ID), { ledgerEntries: 8 }),
      [['entry_counter', 'entries']],
    ],
    [
      'no newest entry',
      () => memory.remove(ledgerEntryKey(ACCOUNT_ID, 9)),
      [
        ['refund_amount', idOf(4)],
        ['refund_missing', idOf(4)],
        ['cost', idOf(4)],
        ['entry_counter', 'entries'],
        ['balance', 'balance'],
      ],
    ],
  ])('finds %s', async (_, spoil, found) => {
    await givenOneOfEach();
    spoil();

    expect(await problems()).toEqual(found);
  });

  test('reads no request and no mark of entries that may be past retention, unless the index lists it', async () => {
    await topUp();
    await create(1);
    await fail(1);
    await remove(1);
    memory.client.resetHistory();
    await problems(atSeconds(91 * DAY));

    expect(memory.calls().BatchGetCommand).toBeUndefined();

    await create(2, { retentionDays: 1 });
    memory.patch(ledgerEntryKey(ACCOUNT_ID, 4), { amountThousandths: 1, balanceAfterThousandths: 999_999 });
    expect(await problems(atSeconds(91 * DAY))).toContainEqual(['debit_amount', idOf(2)]);
  });

  test.each([
    ['raised', 1, '90'],
    ['lowered', 90, '1'],
  ])('judges an absent request by the retention it was created under: %s since', async (_, days, now) => {
    await topUp();
    await create(1, { retentionDays: days });
    await fail(1);
    expect(memory.get(requestKey(idOf(1)))?.ttl).toBe(NOW.getTime() / 1000 + days * DAY);
    memory.remove(requestKey(idOf(1)));

    await withEnvironment({ RETENTION_DAYS: now }, async () => {
      expect(await problems(atSeconds(days * DAY - 3700))).toEqual([['debit_without_request', idOf(1)]]);
      expect(await problems(atSeconds(days * DAY))).toEqual([]);
    });
  });

  test('takes an account when its turn comes, so that its progress can be shown', async () => {
    let taken = 0;
    const accounts = (function* () {
      for (taken = 1; taken <= 20; taken++) yield { accountId: `acc_${taken}` };
    })();
    const takenAtCalls: number[] = [];
    memory.beforeCall = () => takenAtCalls.push(taken);

    await verifyLedger(accounts, clock);

    expect(takenAtCalls[0]).toBeLessThan(10);
  });

  test('counts no account that does not exist: it was removed since it was listed', async () => {
    const verification = await verifyLedger([{ accountId: 'acc_none' }], clock);

    expect(verification).toEqual({ accounts: 0, entries: 0, problems: [] });
  });
});

describe('verifying a ledger that is in use', () => {
  /** Does the steps in sequence while `run` continues, a step before every few calls of `run`. */
  const meanwhile = async <T>(
    steps: (() => Promise<unknown>)[],
    pauses: readonly number[],
    run: () => Promise<T>,
  ): Promise<T> => {
    let busy = false;
    let calls = 0;
    const queue = steps.map((step, index) => ({ step, after: pauses[index % pauses.length] ?? 0 }));
    memory.beforeCall = async () => {
      if (busy) return;
      calls += 1;
      const [first] = queue;
      if (!first || calls <= first.after) return;
      busy = true;
      calls = 0;
      queue.shift();
      await first.step();
      busy = false;
    };
    const result = await run();
    memory.beforeCall = () => undefined;
    for (const { step } of queue) await step();
    return result;
  };

  /** Numbers of requests in the order of what happens to them: creation, then an end, then perhaps deletion. */
  const aScript = fc
    .array(fc.tuple(fc.nat({ max: 3 }), fc.boolean()), { minLength: 1, maxLength: 8 })
    .chain((lives) =>
      fc.record({
        lives: fc.constant(lives),
        before: fc.nat({ max: lives.length * 3 }),
        pauses: fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 6 }),
      }),
    );

  const stepsOf = (lives: [end: number, deleted: boolean][]): (() => Promise<unknown>)[] => {
    const creations = lives.map((_, number) => () => create(number));
    const endings = lives.map(
      ([end], number) =>
        () =>
          end === 3 ? fail(number) : settle(number, end),
    );
    const deletions = lives.flatMap(([, deleted], number) => (deleted ? [() => remove(number)] : []));
    return [...creations, ...endings, ...deletions];
  };

  test('finds no problem in requests that change between any two of its reads', async () => {
    await fc.assert(
      fc.asyncProperty(aScript, async ({ lives, before, pauses }) => {
        given();
        await topUp();
        const steps = stepsOf(lives);
        for (const step of steps.slice(0, before)) await step();

        const { problems: found } = await meanwhile(steps.slice(before), pauses, () => verify());

        expect(found).toEqual([]);
        expect((await verify()).problems).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  test('finds a real problem all the same', async () => {
    await topUp();
    for (const number of [1, 2, 3]) await create(number);
    await fail(1);
    memory.patch(requestKey(idOf(1)), { refundThousandths: 1 });

    const { problems: found } = await meanwhile([() => fail(2), () => settle(3, 1)], [2], () => verify());

    expect(found.map(({ kind }) => kind)).toEqual(['refund_amount']);
  });
});
