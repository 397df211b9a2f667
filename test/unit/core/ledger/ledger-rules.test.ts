import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { LedgerEntry } from '../../../../core/ledger/ledger.ts';
import {
  accountProblems,
  entryProblems,
  LEDGER_PROBLEM_KINDS,
  type LedgerProblem,
  type LedgerProblemKind,
  mayBeSwept,
  requestProblems,
} from '../../../../core/ledger/ledger-rules.ts';
import type { AccountedRequest } from '../../../../core/requests/request-rules.ts';
import { addSeconds, type Instant, SECONDS_PER_DAY } from '../../../../core/time.ts';
import { NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID } from '../../builders/entities.ts';
import { LEDGER_CORRUPTIONS } from '../../builders/ledger-corruptions.ts';
import {
  accountAfter,
  aHistory,
  type Change,
  chained,
  type LedgerHistory,
  RETENTION_DAYS,
} from '../../builders/ledger-histories.ts';

/** No request of a history is so old that it may have been swept. */
const NONE_SWEPT = NOW.toISOString();
const ALL_SWEPT = addSeconds(NONE_SWEPT, RETENTION_DAYS * SECONDS_PER_DAY + 1e6);

const problemsOf = (
  { account, entries, fates }: LedgerHistory,
  judgedAt: Instant = NONE_SWEPT,
): LedgerProblem[] => {
  const ofRequests = entries.filter(({ reason }) => reason === 'generation' || reason === 'refund');
  const named = new Set([...ofRequests.map(({ reference }) => reference), ...fates.keys()]);
  return [
    ...entries.flatMap((entry, index) => entryProblems(entry, entries[index - 1])),
    ...accountProblems(account, entries.at(-1)),
    ...[...named].flatMap((requestId) => {
      const fate = fates.get(requestId) ?? { state: 'absent' };
      // The service reads no other account's requests.
      const request =
        fate.state !== 'absent' && fate.request.accountId === ACCOUNT_ID ? fate.request : undefined;
      const own = ofRequests.filter(({ reference }) => reference === requestId);
      return requestProblems({ accountId: ACCOUNT_ID, requestId, request, entries: own }, judgedAt);
    }),
  ];
};
const kindsOf = (history: LedgerHistory): LedgerProblemKind[] => problemsOf(history).map(({ kind }) => kind);

describe('a ledger kept by the rules', () => {
  test('has no problem, whatever happened', () => {
    fc.assert(fc.property(aHistory(), (history) => expect(problemsOf(history)).toEqual([])));
  });

  test('has no problem once old requests have been swept', () => {
    fc.assert(
      fc.property(aHistory({ swept: true }), (history) => {
        expect(problemsOf(history, ALL_SWEPT)).toEqual([]);
      }),
    );
  });

  test('has none when nothing ever happened', () => {
    expect(problemsOf({ account: accountAfter([]), entries: [], fates: new Map() })).toEqual([]);
  });
});

describe('a ledger in which', () => {
  test.each(LEDGER_CORRUPTIONS)('%s has the problem %s', (_what, kind, spoil) => {
    let spoiled = 0;
    fc.assert(
      fc.property(aHistory(), fc.nat(), (history, pick) => {
        const wrong = spoil(history, pick);
        fc.pre(wrong !== undefined);
        spoiled += 1;
        expect(kindsOf(wrong)).toContain(kind);
      }),
    );
    expect(spoiled).toBeGreaterThan(0);
  });

  test('anything at all is wrong is spoiled by one of these', () => {
    expect(new Set(LEDGER_CORRUPTIONS.map(([, kind]) => kind))).toEqual(new Set(LEDGER_PROBLEM_KINDS));
  });
});

describe('a request has exactly the problems', () => {
  const DEBIT = { reason: 'generation', amount: -4, reference: 'img_0' } as const;
  const REFUND = { ...DEBIT, reason: 'refund', amount: 4 } as const;
  const created = { accountId: ACCOUNT_ID, createdAt: NONE_SWEPT, debitThousandths: 4, debitEntryNumber: 1 };
  const open: AccountedRequest = { ...created, status: 'queued' };
  const failed: AccountedRequest = {
    ...created,
    status: 'failed',
    refundThousandths: 4,
    refundEntryNumber: 2,
  };
  const succeeded: AccountedRequest = { ...created, status: 'succeeded', costThousandths: 4 };

  test.each<[string, AccountedRequest | undefined, Change[], LedgerProblemKind[]]>([
    ['none while it is unfinished', open, [DEBIT], []],
    ['debited twice', open, [DEBIT, DEBIT], ['debit_repeated']],
    ['debited another amount', open, [{ ...DEBIT, amount: -5 }], ['debit_amount']],
    ['never debited', open, [], ['debit_missing']],
    ['its debit named wrongly', { ...open, debitEntryNumber: 3 }, [DEBIT], ['debit_missing']],
    ['refunded before its end', open, [DEBIT, REFUND], ['refund_of_unfinished']],
    ['none once it has failed', failed, [DEBIT, REFUND], []],
    [
      'refunded and never debited',
      { ...failed, refundEntryNumber: 1 },
      [REFUND],
      ['refund_over_debit', 'debit_missing'],
    ],
    ['failed and not refunded', failed, [DEBIT], ['refund_amount', 'refund_missing']],
    [
      'its refund not named',
      { ...failed, refundEntryNumber: undefined },
      [DEBIT, REFUND],
      ['refund_missing'],
    ],
    ['none once it has succeeded', succeeded, [DEBIT], []],
    [
      'a refund named that there is none of',
      { ...succeeded, refundEntryNumber: 2 },
      [DEBIT],
      ['refund_missing'],
    ],
    ['another cost than it was charged', { ...succeeded, costThousandths: 3 }, [DEBIT], ['cost']],
    ['absent', undefined, [DEBIT], ['debit_without_request']],
    ['absent and refunded', undefined, [REFUND], ['refund_without_request']],
    [
      'absent and refunded too much',
      undefined,
      [DEBIT, { ...REFUND, amount: 5 }],
      ['refund_over_debit', 'debit_without_request'],
    ],
  ])('of %s', (_, request, changes, kinds) => {
    const parts = { accountId: ACCOUNT_ID, requestId: 'img_0', request, entries: chained(changes) };

    expect(requestProblems(parts, NONE_SWEPT).map(({ kind }) => kind)).toEqual(kinds);
  });
});

test.each<[string, Change[], number, string]>([
  ['has no debit', [], 1, 'has no debit of its 0.004'],
  [
    'names another entry',
    [{ reason: 'generation', amount: -4, reference: 'img_0' }],
    3,
    'names 3 as the number of its debit, which is another',
  ],
])('a request that %s is reported as such', (_, changes, debitEntryNumber, detail) => {
  const debit = { debitThousandths: 4, debitEntryNumber };
  const request = { accountId: ACCOUNT_ID, createdAt: NONE_SWEPT, status: 'queued', ...debit } as const;
  const parts = { accountId: ACCOUNT_ID, requestId: 'img_0', request, entries: chained(changes) };

  const [problem] = requestProblems(parts, NONE_SWEPT);

  expect(problem).toMatchObject({ kind: 'debit_missing', detail: expect.stringContaining(detail) });
});

test.each<[number | undefined, number, boolean]>([
  [1, 86_400 - 3_600, false],
  [1, 86_400 - 3_600 + 0.001, true],
  [90, 90 * 86_400 - 3_600, false],
  [90, 90 * 86_400 - 3_600 + 0.001, true],
  [undefined, 1e9, false],
])(
  'the request of an entry with a retention of %p days may be absent %p s later: %p',
  (days, seconds, expected) => {
    const [entry] = chained([{ reason: 'refund', amount: 1, reference: 'img_0' }]);

    expect(
      mayBeSwept({ ...(entry as LedgerEntry), retentionDays: days }, addSeconds(NONE_SWEPT, seconds)),
    ).toBe(expected);
  },
);

describe('a problem', () => {
  test('names its account, and says what is wrong in xTokens', () => {
    const entries = chained([
      { reason: 'topup', amount: 10_000, reference: 'invoice' },
      { reason: 'generation', amount: -4_500, reference: 'img_0' },
    ]);
    const account = { ...accountAfter(entries), balanceThousandths: 5_501 };

    expect(problemsOf({ account, entries, fates: new Map() })).toEqual([
      {
        accountId: ACCOUNT_ID,
        kind: 'balance',
        detail: 'The balance is 5.501 and the newest entry leaves 5.5.',
      },
      {
        accountId: ACCOUNT_ID,
        kind: 'debit_without_request',
        detail: 'Request img_0 was debited 4.5 and is not there.',
      },
    ]);
  });

  test('of one place does not make all that follows wrong', () => {
    const entries = chained(
      Array.from({ length: 20 }, () => ({ reason: 'topup', amount: 5, reference: '' }) as const),
    );
    const gone = entries.toSpliced(4, 1);

    const kinds = kindsOf({ account: accountAfter(entries), entries: gone, fates: new Map() });

    expect(kinds).toEqual(['entry_number', 'entry_chain']);
  });
});
