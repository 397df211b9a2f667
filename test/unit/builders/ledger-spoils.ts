import type { AccountedRequest, LedgerProblemKind } from '../../../core/ledger/ledger-rules.ts';
import { accountAfter, type Change, chained, changesOf, type LedgerHistory } from './ledger-histories.ts';

/** What can be spoiled in a history: undefined when this one has nothing of the sort. `pick` chooses which. */
export type Spoil = (history: LedgerHistory, pick: number) => LedgerHistory | undefined;

const pickOf = <T>(all: readonly T[], pick: number): T | undefined => all[pick % all.length];
const keptOf = ({ fates }: LedgerHistory, ...statuses: string[]): AccountedRequest[] =>
  [...fates.values()].flatMap((fate) =>
    fate.state === 'kept' && statuses.includes(fate.request.status) ? [fate.request] : [],
  );

/** Changes one attribute of one request. */
const spoilRequest =
  (statuses: string[], change: (request: AccountedRequest) => Partial<AccountedRequest>): Spoil =>
  (history, pick) => {
    const request = pickOf(keptOf(history, ...statuses), pick);
    if (!request) return undefined;
    const fates = new Map(history.fates);
    fates.set(request.requestId, { state: 'kept', request: { ...request, ...change(request) } });
    return { ...history, fates };
  };

/** Changes what was booked, leaving a chain without a flaw. */
const rebook =
  (statuses: string[], book: (changes: Change[], request: AccountedRequest) => Change[] | undefined): Spoil =>
  (history, pick) => {
    const request = pickOf(keptOf(history, ...statuses), pick);
    const changes = request && book(changesOf(history.entries), request);
    if (!changes) return undefined;
    const entries = chained(changes);
    return { ...history, entries, account: accountAfter(entries) };
  };

const spoilEntries =
  (change: (entries: LedgerHistory['entries'], index: number) => LedgerHistory['entries']): Spoil =>
  (history, pick) => {
    const { entries } = history;
    if (entries.length === 0) return undefined;
    return { ...history, entries: change(entries, pick % entries.length) };
  };

const spoilEntry = (name: 'amountThousandths' | 'balanceAfterThousandths' | 'number', by: number): Spoil =>
  spoilEntries((entries, index) =>
    entries.map((entry, place) => (place === index ? { ...entry, [name]: entry[name] + by } : entry)),
  );

const spoilAccount =
  (name: 'balanceThousandths' | 'ledgerEntries', by: number): Spoil =>
  (history) => ({ ...history, account: { ...history.account, [name]: history.account[name] + by } });

const ANY = ['queued', 'processing', 'succeeded', 'failed'];
const OPEN = ['queued', 'processing'];
const OVER = ['succeeded', 'failed'];
const isRefundOf = ({ requestId }: AccountedRequest) => {
  return ({ reason, reference }: Change) => reason === 'refund' && reference === requestId;
};
const isDebitOf = ({ requestId }: AccountedRequest) => {
  return ({ reason, reference }: Change) => reason === 'generation' && reference === requestId;
};

/** Everything that can be wrong with a ledger, one thing at a time, and the kind of problem it is. */
export const SPOILS: [what: string, kind: LedgerProblemKind, spoil: Spoil][] = [
  [
    'an entry before the newest is gone',
    'entry_number',
    (history, pick) => {
      const { entries } = history;
      if (entries.length < 2) return undefined;
      return { ...history, entries: entries.toSpliced(pick % (entries.length - 1), 1) };
    },
  ],
  [
    'the newest entry is gone',
    'entry_counter',
    (history) =>
      history.entries.length > 0 ? { ...history, entries: history.entries.slice(0, -1) } : undefined,
  ],
  [
    'an entry is there twice',
    'entry_number',
    spoilEntries((entries, index) =>
      entries.flatMap((entry, at) => (at === index ? [entry, entry] : [entry])),
    ),
  ],
  ['an entry has another number', 'entry_number', spoilEntry('number', 1)],
  ['an entry has another amount', 'entry_chain', spoilEntry('amountThousandths', 1)],
  ['an entry leaves another balance', 'entry_chain', spoilEntry('balanceAfterThousandths', -1)],
  [
    'two neighbours changed places',
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
  ['the balance is another', 'balance', spoilAccount('balanceThousandths', 1)],
  ['the counter is ahead', 'entry_counter', spoilAccount('ledgerEntries', 1)],
  ['the counter is behind', 'entry_counter', spoilAccount('ledgerEntries', -1)],
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
    'a request was debited another amount',
    'debit_amount',
    rebook(ANY, (changes, request) =>
      changes.map((change) =>
        isDebitOf(request)(change) ? { ...change, amount: change.amount - 1 } : change,
      ),
    ),
  ],
  [
    'a request says it was debited another amount',
    'debit_amount',
    spoilRequest(ANY, ({ debitThousandths }) => ({ debitThousandths: debitThousandths + 1 })),
  ],
  [
    'a request is gone that nobody deleted',
    'debit_without_request',
    (history, pick) => {
      const request = pickOf(keptOf(history, ...ANY), pick);
      const fates = new Map(history.fates);
      return request && fates.delete(request.requestId) ? { ...history, fates } : undefined;
    },
  ],
  [
    'a debit is of a request of another account',
    'debit_without_request',
    spoilRequest(ANY, () => ({ accountId: 'acc_other' })),
  ],
  [
    'a refund was made twice',
    'refund_repeated',
    rebook(OVER, (changes, request) => {
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
    'a request that is not over was refunded',
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
    rebook(['failed'], (changes, request) => {
      const halved = (change: Change) => ({ ...change, amount: Math.floor(change.amount / 2) });
      return request.debitThousandths < 2
        ? undefined
        : changes.map((change) => (isRefundOf(request)(change) ? halved(change) : change));
    }),
  ],
  [
    'a request that is over says it was refunded another amount',
    'refund_amount',
    spoilRequest(OVER, ({ refundThousandths = 0 }) => ({ refundThousandths: refundThousandths + 1 })),
  ],
  [
    'a request that is over does not say what it was refunded',
    'refund_amount',
    (history, pick) => spoilRequest(['failed'], () => ({ refundThousandths: undefined }))(history, pick),
  ],
  [
    'a succeeded request says it cost another amount',
    'cost',
    spoilRequest(['succeeded'], ({ costThousandths = 0 }) => ({ costThousandths: costThousandths - 1 })),
  ],
  [
    'a succeeded request does not say what it cost',
    'cost',
    spoilRequest(['succeeded'], () => ({ costThousandths: undefined })),
  ],
  [
    'a failed request says that it is under way',
    'refund_of_unfinished',
    spoilRequest(['failed'], () => ({ status: 'processing' })),
  ],
];
