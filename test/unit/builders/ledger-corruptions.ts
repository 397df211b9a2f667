import type { LedgerProblemKind } from '../../../core/ledger/ledger-rules.ts';
import type { AccountedRequest } from '../../../core/requests/request-rules.ts';
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
const knownWith = (history: LedgerHistory, ...statuses: string[]): KnownRequest[] =>
  knownOf(history).filter(({ request }) => statuses.includes(request.status));

/** Changes attributes of one request that `fits`. */
const corruptRequest =
  (
    statuses: string[],
    change: (request: AccountedRequest) => Partial<AccountedRequest>,
    fits: (request: AccountedRequest) => boolean = () => true,
  ): LedgerCorruption =>
  (history, pick) => {
    const known = knownWith(history, ...statuses).filter(({ request }) => fits(request));
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
    statuses: string[],
    book: (changes: Change[], picked: KnownRequest) => Change[] | undefined,
  ): LedgerCorruption =>
  (history, pick) => {
    const picked = pickOf(knownWith(history, ...statuses), pick);
    const changes = picked && book(changesOf(history.entries), picked);
    if (!changes) return undefined;
    const entries = chained(changes);
    return nameEntries({ ...history, entries, account: accountAfter(entries) });
  };

const corruptEntries =
  (
    change: (entries: LedgerHistory['entries'], index: number) => LedgerHistory['entries'],
  ): LedgerCorruption =>
  (history, pick) => {
    const { entries } = history;
    if (entries.length === 0) return undefined;
    return { ...history, entries: change(entries, pick % entries.length) };
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

const ANY = ['queued', 'processing', 'succeeded', 'failed'];
const OPEN = ['queued', 'processing'];
const ENDED = ['succeeded', 'failed'];
const isRefundOf = ({ requestId }: KnownRequest) => {
  return ({ reason, reference }: Change) => reason === 'refund' && reference === requestId;
};
const isDebitOf = ({ requestId }: KnownRequest) => {
  return ({ reason, reference }: Change) => reason === 'generation' && reference === requestId;
};

/** Every way a ledger can be wrong, one at a time, with the kind of problem it causes. */
export const LEDGER_CORRUPTIONS: [what: string, kind: LedgerProblemKind, corrupt: LedgerCorruption][] = [
  [
    'an older entry is missing',
    'entry_number',
    (history, pick) => {
      const { entries } = history;
      if (entries.length < 2) return undefined;
      return { ...history, entries: entries.toSpliced(pick % (entries.length - 1), 1) };
    },
  ],
  [
    'the newest entry is missing',
    'entry_counter',
    (history) =>
      history.entries.length > 0 ? { ...history, entries: history.entries.slice(0, -1) } : undefined,
  ],
  [
    'an entry is repeated',
    'entry_number',
    corruptEntries((entries, index) =>
      entries.flatMap((entry, at) => (at === index ? [entry, entry] : [entry])),
    ),
  ],
  ['an entry has a wrong number', 'entry_number', corruptEntry('number', 1)],
  ['an entry has a wrong amount', 'entry_chain', corruptEntry('amountThousandths', 1)],
  ['an entry has a wrong balance', 'entry_chain', corruptEntry('balanceAfterThousandths', -1)],
  [
    'two adjacent entries are swapped',
    'entry_number',
    (history, pick) => {
      const { entries } = history;
      const index = pick % Math.max(1, entries.length - 1);
      const [first, second] = entries.slice(index, index + 2);
      return first && second
        ? { ...history, entries: entries.toSpliced(index, 2, second, first) }
        : undefined;
    },
  ],
  ['the balance is wrong', 'balance', corruptAccount('balanceThousandths', 1)],
  ['the counter is ahead', 'entry_counter', corruptAccount('ledgerEntries', 1)],
  ['the counter is behind', 'entry_counter', corruptAccount('ledgerEntries', -1)],
  [
    'a request was never debited',
    'debit_missing',
    rebook(ANY, (changes, request) => changes.filter((change) => !isDebitOf(request)(change))),
  ],
  [
    'a request was debited twice',
    'debit_repeated',
    rebook(ANY, (changes, request) => [...changes, ...changes.filter(isDebitOf(request))]),
  ],
  [
    'a request was debited a wrong amount',
    'debit_amount',
    rebook(ANY, (changes, request) =>
      changes.map((change) =>
        isDebitOf(request)(change) ? { ...change, amount: change.amount - 1 } : change,
      ),
    ),
  ],
  [
    'a request records a wrong debit',
    'debit_amount',
    corruptRequest(ANY, ({ debitThousandths }) => ({ debitThousandths: debitThousandths + 1 })),
  ],
  [
    'a request is missing without a deletion',
    'debit_without_request',
    (history, pick) => {
      const picked = pickOf(knownWith(history, ...ANY), pick);
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
    corruptRequest(ANY, () => ({ accountId: 'acc_other' })),
  ],
  [
    'a refund was made twice',
    'refund_repeated',
    rebook(ENDED, (changes, request) => {
      const refund = changes.find(isRefundOf(request));
      return refund && [...changes, refund];
    }),
  ],
  [
    'more was refunded than debited',
    'refund_over_debit',
    rebook(['failed'], (changes, request) =>
      changes.map((change) =>
        isRefundOf(request)(change) ? { ...change, amount: change.amount + 1 } : change,
      ),
    ),
  ],
  [
    'an unfinished request was refunded',
    'refund_of_unfinished',
    rebook(OPEN, (changes, { requestId }) => [
      ...changes,
      { reason: 'refund', amount: 1, reference: requestId },
    ]),
  ],
  [
    'a failed request was not refunded',
    'refund_missing',
    rebook(['failed'], (changes, request) => changes.filter((change) => !isRefundOf(request)(change))),
  ],
  [
    'a failed request was refunded in part',
    'refund_missing',
    rebook(['failed'], (changes, picked) => {
      const halved = (change: Change) => ({ ...change, amount: Math.floor(change.amount / 2) });
      return picked.request.debitThousandths < 2
        ? undefined
        : changes.map((change) => (isRefundOf(picked)(change) ? halved(change) : change));
    }),
  ],
  [
    'an ended request records a wrong refund',
    'refund_amount',
    corruptRequest(ENDED, ({ refundThousandths = 0 }) => ({ refundThousandths: refundThousandths + 1 })),
  ],
  [
    'a failed request records no refund',
    'refund_amount',
    corruptRequest(['failed'], () => ({ refundThousandths: undefined })),
  ],
  [
    'a succeeded request records a wrong cost',
    'cost',
    corruptRequest(['succeeded'], ({ costThousandths = 0 }) => ({ costThousandths: costThousandths - 1 })),
  ],
  [
    'a succeeded request records no cost',
    'cost',
    corruptRequest(['succeeded'], () => ({ costThousandths: undefined })),
  ],
  [
    'a failed request is recorded as unfinished',
    'refund_of_unfinished',
    corruptRequest(['failed'], () => ({ status: 'processing' })),
  ],
  [
    'a request names another entry as its debit',
    'debit_missing',
    corruptRequest(ANY, ({ debitEntryNumber = 0 }) => ({ debitEntryNumber: debitEntryNumber + 1 })),
  ],
  [
    'a request names another entry as its refund',
    'refund_missing',
    corruptRequest(
      ENDED,
      ({ refundEntryNumber = 0 }) => ({ refundEntryNumber: refundEntryNumber + 1 }),
      ({ refundEntryNumber }) => refundEntryNumber !== undefined,
    ),
  ],
];
