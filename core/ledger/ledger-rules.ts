import type { Account } from '../accounts/accounts.ts';
import { type Thousandths, toXTokens } from '../money.ts';
import { type AccountedRequest, isTerminal } from '../requests/request-rules.ts';
import { type Instant, SECONDS_PER_DAY } from '../time.ts';
import type { LedgerEntry } from './ledger.ts';

/** Every kind of problem that a readable ledger can have. */
export const LEDGER_PROBLEM_KINDS = [
  /** An entry's number does not follow the previous one. */
  'entry_number',
  /** An entry's balance is not the previous balance plus its amount. */
  'entry_chain',
  /** The account's entry counter is not the newest entry's number. */
  'entry_counter',
  /** The account's balance is not the newest entry's. */
  'balance',
  /** A request has no debit, or does not name it. */
  'debit_missing',
  /** A request has several debits. */
  'debit_repeated',
  /** A debit's amount is not the request's. */
  'debit_amount',
  /** A debit's request is absent, though it was neither deleted nor past retention. */
  'debit_without_request',
  /** A request has several refunds. */
  'refund_repeated',
  /** More was refunded than debited. */
  'refund_over_debit',
  /** An unfinished request has a refund. */
  'refund_of_unfinished',
  /** A failed request was not refunded in full, or a request does not name its refund. */
  'refund_missing',
  /** A refund's amount is not the request's. */
  'refund_amount',
  /** A refund's request is absent, though it was neither deleted nor past retention. */
  'refund_without_request',
  /** A succeeded request's cost is not its debit minus its refund. */
  'cost',
] as const;
/** `unreadable`: the account cannot be read. */
export type LedgerProblemKind = (typeof LEDGER_PROBLEM_KINDS)[number] | 'unreadable';

/** A problem found in an account's ledger. */
export interface LedgerProblem {
  accountId: string;
  kind: LedgerProblemKind;
  /** For operators: the entry or request, and the amounts in xTokens. */
  detail: string;
}

const signedAmount = ({ type, amountThousandths }: LedgerEntry): Thousandths =>
  type === 'credit' ? amountThousandths : -amountThousandths;

/**
 * The problems of an entry in the chain of balances, against the previous entry, if there is one. After a break, the chain
 * continues from the entry.
 */
export const entryProblems = (entry: LedgerEntry, previous: LedgerEntry | undefined): LedgerProblem[] => {
  const { accountId, number, balanceAfterThousandths } = entry;
  const problems: LedgerProblem[] = [];
  const expected = (previous?.number ?? 0) + 1;
  if (number !== expected) {
    const detail = `Entry ${number} stands where ${expected} should.`;
    problems.push({ accountId, kind: 'entry_number', detail });
  }
  const after = (previous?.balanceAfterThousandths ?? 0) + signedAmount(entry);
  if (balanceAfterThousandths !== after) {
    const detail = `Entry ${number} leaves ${toXTokens(balanceAfterThousandths)}, which should be ${toXTokens(after)}.`;
    problems.push({ accountId, kind: 'entry_chain', detail });
  }
  return problems;
};

/** The problems between an account and the newest entry of its ledger. */
export const accountProblems = (
  {
    accountId,
    ledgerEntries,
    balanceThousandths,
  }: Pick<Account, 'accountId' | 'ledgerEntries' | 'balanceThousandths'>,
  newest: LedgerEntry | undefined,
): LedgerProblem[] => {
  const { number = 0, balanceAfterThousandths = 0 } = newest ?? {};
  const problems: LedgerProblem[] = [];
  if (ledgerEntries !== number) {
    const detail = `${ledgerEntries} entries are counted and the newest is number ${number}.`;
    problems.push({ accountId, kind: 'entry_counter', detail });
  }
  if (balanceThousandths !== balanceAfterThousandths) {
    const detail = `The balance is ${toXTokens(balanceThousandths)} and the newest entry leaves ${toXTokens(balanceAfterThousandths)}.`;
    problems.push({ accountId, kind: 'balance', detail });
  }
  return problems;
};

/** DynamoDB removes requests past retention by its own clock, which may differ from ours. */
const SWEEP_MARGIN_SECONDS = 3600;

/**
 * Whether the request of an entry may be past retention. Retention begins at the request's end, after its debit, and is fixed at its
 * creation. So the request of a debit or refund younger than its retention must exist, whatever the setting is now.
 */
export const mayBeSwept = (
  { createdAt, retentionDays = Number.POSITIVE_INFINITY }: LedgerEntry,
  now: Instant,
): boolean =>
  Date.parse(now) + (SWEEP_MARGIN_SECONDS - retentionDays * SECONDS_PER_DAY) * 1000 > Date.parse(createdAt);

/** A request and its ledger entries, as a verification compares them. */
interface RequestAndEntries {
  accountId: string;
  requestId: string;
  /** The stored request, or the part that the mark of its deletion keeps; undefined without either. */
  request: AccountedRequest | undefined;
  /** All entries of the request or, without a request, the entries in a part of the ledger. */
  entries: readonly LedgerEntry[];
}

type Problem = [kind: LedgerProblemKind, what: string];

/** The problems between a request and its account's ledger. A request that may be past retention may be absent. */
export const requestProblems = (
  { accountId, requestId, request, entries }: RequestAndEntries,
  now: Instant,
): LedgerProblem[] => {
  const debits = entries.filter(({ reason }) => reason === 'generation');
  const refunds = entries.filter(({ reason }) => reason === 'refund');
  const amounts = { debits, refunds, debited: -sumOfAmounts(debits), refunded: sumOfAmounts(refunds) };
  const problems = [
    ...countProblems(amounts, request !== undefined),
    ...(request ? debitProblems(amounts, request) : absenceProblems(amounts, now)),
    ...(request ? refundProblems(amounts, request) : []),
  ];
  return problems.map(([kind, what]) => ({ accountId, kind, detail: `Request ${requestId} ${what}.` }));
};

/** The debits and refunds of a request with their sums, both positive. */
interface RequestAmounts {
  debits: readonly LedgerEntry[];
  refunds: readonly LedgerEntry[];
  debited: Thousandths;
  refunded: Thousandths;
}

const countProblems = (
  { debits, refunds, debited, refunded }: RequestAmounts,
  hasRequest: boolean,
): Problem[] => {
  const problems: Problem[] = [];
  if (debits.length > 1) problems.push(['debit_repeated', `has ${debits.length} debits`]);
  if (refunds.length > 1) problems.push(['refund_repeated', `has ${refunds.length} refunds`]);
  if ((debits.length > 0 || hasRequest) && refunded > debited) {
    problems.push([
      'refund_over_debit',
      `was refunded ${toXTokens(refunded)} and debited ${toXTokens(debited)}`,
    ]);
  }
  return problems;
};

const absenceProblems = ({ debits, refunds, debited, refunded }: RequestAmounts, now: Instant): Problem[] => {
  if (debits.some((debit) => !mayBeSwept(debit, now)))
    return [['debit_without_request', `was debited ${toXTokens(debited)} and is not there`]];
  if (refunds.some((refund) => !mayBeSwept(refund, now)))
    return [['refund_without_request', `was refunded ${toXTokens(refunded)} and is not there`]];
  return [];
};

const debitProblems = (
  { debits, debited }: RequestAmounts,
  { debitThousandths, debitEntryNumber }: AccountedRequest,
): Problem[] => {
  const problems: Problem[] = [];
  const expected = toXTokens(debitThousandths);
  if (debits.length === 0) problems.push(['debit_missing', `has no debit of its ${expected}`]);
  else if (!isAmong(debits, debitEntryNumber)) {
    const named = debitEntryNumber ?? 'none';
    problems.push(['debit_missing', `names ${named} as the number of its debit, which is another`]);
  }
  if (debits.length === 1 && debited !== debitThousandths) {
    problems.push(['debit_amount', `was debited ${toXTokens(debited)}, which should be ${expected}`]);
  }
  return problems;
};

const refundProblems = ({ refunds, ...sums }: RequestAmounts, request: AccountedRequest): Problem[] => {
  const problems: Problem[] = [];
  const { status, costThousandths = 0, refundThousandths = 0, refundEntryNumber } = request;
  const [debited, refunded] = [toXTokens(sums.debited), toXTokens(sums.refunded)];
  if (!isTerminal(request))
    return refunds.length > 0 ? [['refund_of_unfinished', `was refunded ${refunded} and is ${status}`]] : [];
  if (sums.refunded !== refundThousandths) {
    const expected = toXTokens(refundThousandths);
    problems.push(['refund_amount', `was refunded ${refunded}, which should be ${expected}`]);
  }
  const isRefunded = refunds.length > 0 || refundEntryNumber !== undefined;
  if (status === 'failed' && sums.refunded < sums.debited) {
    problems.push(['refund_missing', `failed and was refunded ${refunded} of ${debited}`]);
  } else if (isRefunded && !isAmong(refunds, refundEntryNumber)) {
    const named = refundEntryNumber ?? 'none';
    problems.push(['refund_missing', `names ${named} as the number of its refund, which is another`]);
  }
  if (status === 'succeeded' && costThousandths !== sums.debited - sums.refunded) {
    const charged = toXTokens(sums.debited - sums.refunded);
    problems.push(['cost', `cost ${toXTokens(costThousandths)} and was charged ${charged}`]);
  }
  return problems;
};

const sumOfAmounts = (entries: readonly LedgerEntry[]): Thousandths =>
  entries.reduce((sum, entry) => sum + signedAmount(entry), 0);

const isAmong = (entries: readonly LedgerEntry[], number: number | undefined): boolean =>
  entries.some((entry) => entry.number === number);
