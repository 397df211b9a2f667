import type { LedgerProblemKind } from '../../../core/ledger/ledger-rules.ts';
import { type AccountedRequest, isTerminal } from '../../../core/requests/request-rules.ts';
import {
  accountAfter,
  type Change,
  chained,
  changesOf,
  type KnownRequest,
  knownOf,
  type LedgerHistory,
  nameEntries,
} from './ledger-histories.ts';

/** Corrupts a history; `pick` chooses where. Undefined when the history has nothing to corrupt in this way. */
export type LedgerCorruption = (history: LedgerHistory, pick: number) => LedgerHistory | undefined;

const pickOf = <T>(all: readonly T[], pick: number): T | undefined => all[pick % all.length];
/** Changes attributes of one request among those that `isOne` takes. */
const corruptRequest =
  (
    isOne: (request: AccountedRequest) => boolean,
    change: (request: AccountedRequest) => Partial<AccountedRequest>,
  ): LedgerCorruption =>
  (history, pick) => {
    const known = knownOf(history).filter(({ request }) => isOne(request));
    const picked = pickOf(known, pick);
    if (!picked) return undefined;
    const { requestId, state, request } = picked;
    const fates = new Map(history.fates);
    fates.set(requestId, { state, request: { ...request, ...change(request) } });
    return { ...history, fates };
  };

/** Changes the bookings but keeps a valid chain, and the numbers by which other requests name theirs. */
const rebook =
  (
    isOne: (request: AccountedRequest) => boolean,
    book: (changes: Change[], picked: KnownRequest) => Change[] | undefined,
  ): LedgerCorruption =>
  (history, pick) => {
    const known = knownOf(history).filter(({ request }) => isOne(request));
    const picked = pickOf(known, pick);
    const changes = picked && book(changesOf(history.entries), picked);
    if (!changes) return undefined;
    const entries = chained(changes);
    return nameEntries({ ...history, entries, account: accountAfter(entries) });
  };

const corruptEntries =
  (
    change: (entries: LedgerHistory['entries'], index: number) => LedgerHistory['entries'] | undefined,
  ): LedgerCorruption =>
  (history, pick) => {
    const { entries } = history;
    const changed = entries.length === 0 ? undefined : change(entries, pick % entries.length);
    return changed && { ...history, entries: changed };
  };

const corruptEntry = (
  name: 'amountThousandths' | 'balanceAfterThousandths' | 'number',
  by: number,
): LedgerCorruption =>
  corruptEntries((entries, index) =>
    entries.map((entry, place) => (place === index ? { ...entry, [name]: entry[name] + by } : entry)),
  );

const corruptAccount =
  (name: 'balanceThousandths' | 'ledgerEntries', by: number): LedgerCorruption =>
  (history) => ({ ...history, account: { ...history.account, [name]: history.account[name] + by } });

const anyOne = (): boolean => true;
const isOpen = (request: AccountedRequest): boolean => !isTerminal(request);
const isFailed = ({ status }: AccountedRequest): boolean => status === 'failed';
const isSucceeded = ({ status }: AccountedRequest): boolean => status === 'succeeded';

const isRefundOf = ({ requestId }: KnownRequest) => {
  return ({ reason, reference }: Change) => reason === 'refund' && reference === requestId;
};
const isDebitOf = ({ requestId }: KnownRequest) => {
  return ({ reason, reference }: Change) => reason === 'generation' && reference === requestId;
};
/** The changes with another amount in one of them. */
const withAmount = (
  changes: Change[],
  isOne: (change: Change) => boolean,
  amountOf: (amount: number) => number,
): Change[] =>
  changes.map((change) => (isOne(change) ? { ...change, amount: amountOf(change.amount) } : change));

/** Every way a ledger can be wrong, one at a time, with the kind of problem it causes. */
export const LEDGER_CORRUPTIONS: [what: string, kind: LedgerProblemKind, corrupt: LedgerCorruption][] = [
  [
    'an older entry is missing',
    'entry_number',
    corruptEntries((entries, index) =>
      index < entries.length - 1 ? entries.toSpliced(index, 1) : undefined,
    ),
  ],
  ['the newest entry is missing', 'entry_counter', corruptEntries((entries) => entries.slice(0, -1))],
  [
    'an entry is repeated',
    'entry_number',
    corruptEntries((entries, index) => [...entries.slice(0, index + 1), ...entries.slice(index)]),
  ],
  ['an entry has a wrong number', 'entry_number', corruptEntry('number', 1)],
  ['an entry has a wrong amount', 'entry_chain', corruptEntry('amountThousandths', 1)],
  ['an entry has a wrong balance', 'entry_chain', corruptEntry('balanceAfterThousandths', -1)],
  [
    'two adjacent entries are swapped',
    'entry_number',
    corruptEntries((entries, index) => {
      const [first, second] = entries.slice(index, index + 2);
      return first && second && entries.toSpliced(index, 2, second, first);
    }),
  ],
  ['the balance is wrong', 'balance', corruptAccount('balanceThousandths', 1)],
  ['the counter is ahead', 'entry_counter', corruptAccount('ledgerEntries', 1)],
  ['the counter is behind', 'entry_counter', corruptAccount('ledgerEntries', -1)],
  [
    'a request was never debited',
    'debit_missing',
    rebook(anyOne, (changes, request) => changes.filter((change) => !isDebitOf(request)(change))),
  ],
  [
    'a request was debited twice',
    'debit_repeated',
    rebook(anyOne, (changes, request) => [...changes, ...changes.filter(isDebitOf(request))]),
  ],
  [
    'a request was debited a wrong amount',
    'debit_amount',
    rebook(anyOne, (changes, request) => withAmount(changes, isDebitOf(request), (amount) => amount - 1)),
  ],
  [
    'a request records a wrong debit',
    'debit_amount',
    corruptRequest(anyOne, ({ debitThousandths }) => ({ debitThousandths: debitThousandths + 1 })),
  ],
  [
    'a request is missing without a deletion',
    'debit_without_request',
    (history, pick) => {
      const picked = pickOf(knownOf(history), pick);
      const fates = new Map(history.fates);
      return picked && fates.delete(picked.requestId) ? { ...history, fates } : undefined;
    },
  ],
  [
    'a refund is for a request that was never there',
    'refund_without_request',
    (history) => {
      const stray = { reason: 'refund', amount: 1, reference: 'img_stray' } as const;
      const entries = chained([...changesOf(history.entries), stray]);
      return { ...history, entries, account: accountAfter(entries) };
    },
  ],
  [
    'a debit is for a request of another account',
    'debit_without_request',
    corruptRequest(anyOne, () => ({ accountId: 'acc_other' })),
  ],
  [
    'a refund was made twice',
    'refund_repeated',
    rebook(isTerminal, (changes, request) => {
      const refund = changes.find(isRefundOf(request));
      return refund && [...changes, refund];
    }),
  ],
  [
    'more was refunded than debited',
    'refund_over_debit',
    rebook(isFailed, (changes, request) => withAmount(changes, isRefundOf(request), (amount) => amount + 1)),
  ],
  [
    'an unfinished request was refunded',
    'refund_of_unfinished',
    rebook(isOpen, (changes, { requestId }) => [
      ...changes,
      { reason: 'refund', amount: 1, reference: requestId },
    ]),
  ],
  [
    'a failed request was not refunded',
    'refund_missing',
    rebook(isFailed, (changes, request) => changes.filter((change) => !isRefundOf(request)(change))),
  ],
  [
    'a failed request was refunded in part',
    'refund_missing',
    rebook(isFailed, (changes, picked) =>
      picked.request.debitThousandths < 2
        ? undefined
        : withAmount(changes, isRefundOf(picked), (amount) => Math.floor(amount / 2)),
    ),
  ],
  [
    'an ended request records a wrong refund',
    'refund_amount',
    corruptRequest(isTerminal, ({ refundThousandths = 0 }) => ({ refundThousandths: refundThousandths + 1 })),
  ],
  [
    'a failed request records no refund',
    'refund_amount',
    corruptRequest(isFailed, () => ({ refundThousandths: undefined })),
  ],
  [
    'a succeeded request records a wrong cost',
    'cost',
    corruptRequest(isSucceeded, ({ costThousandths = 0 }) => ({ costThousandths: costThousandths - 1 })),
  ],
  [
    'a succeeded request records no cost',
    'cost',
    corruptRequest(isSucceeded, () => ({ costThousandths: undefined })),
  ],
  [
    'a failed request is recorded as unfinished',
    'refund_of_unfinished',
    corruptRequest(isFailed, () => ({ status: 'processing' })),
  ],
  [
    'a request names another entry as its debit',
    'debit_missing',
    corruptRequest(anyOne, ({ debitEntryNumber = 0 }) => ({ debitEntryNumber: debitEntryNumber + 1 })),
  ],
  [
    'a request names another entry as its refund',
    'refund_missing',
    corruptRequest(
      ({ refundEntryNumber }) => refundEntryNumber !== undefined,
      ({ refundEntryNumber = 0 }) => ({ refundEntryNumber: refundEntryNumber + 1 }),
    ),
  ],
];
