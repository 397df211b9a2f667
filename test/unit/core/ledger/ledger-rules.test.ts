import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  accountProblems,
  entryProblems,
  LEDGER_PROBLEM_KINDS,
  type LedgerProblem,
  type LedgerProblemKind,
  requestProblems,
} from '../../../../core/ledger/ledger-rules.ts';
import { addSeconds, type Instant, SECONDS_PER_DAY } from '../../../../core/time.ts';
import { NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID } from '../../builders/entities.ts';
import { LEDGER_CORRUPTIONS } from '../../builders/ledger-corruptions.ts';
import {
  accountAfter,
  aHistory,
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
