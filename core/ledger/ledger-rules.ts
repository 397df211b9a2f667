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
 * The problems of an entry's place in the chain, after the entry before it or none. After a break, the chain
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
 * Whether the request of an entry may be past retention. It is kept for that long after its end, so it is there while its debit or
 * refund is younger. Its retention was fixed when it was created, so no later setting counts.
 */
export const mayBeSwept = (
  { createdAt, retentionDays = Number.POSITIVE_INFINITY }: LedgerEntry,
  now: Instant,
): boolean =>
  Date.parse(now) + (SWEEP_MARGIN_SECONDS - retentionDays * SECONDS_PER_DAY) * 1000 > Date.parse(createdAt);

/**
 * The problems between a request and its account's ledger. `request` is the stored one, or the kept part in the mark of its deletion. Without
 * either it is undefined: a request that may be past retention may be absent. `entries` are all of its entries, or without a request
 * those of a part of the ledger.
 */
export const requestProblems = (
  {
    accountId,
    requestId,
    request,
    entries,
  }: {
    accountId: string;
    requestId: string;
    request: AccountedRequest | undefined;
    entries: readonly LedgerEntry[];
  },
  now: Instant,
): LedgerProblem[] => {
  const problems: LedgerProblem[] = [];
  const report = (kind: LedgerProblemKind, what: string): void => {
    problems.push({ accountId, kind, detail: `Request ${requestId} ${what}.` });
  };
  const debits = entries.filter(({ reason }) => reason === 'generation');
  const refunds = entries.filter(({ reason }) => reason === 'refund');
  const [debitedThousandths, refundedThousandths] = [-sumOfAmounts(debits), sumOfAmounts(refunds)];
  const [debited, refunded] = [toXTokens(debitedThousandths), toXTokens(refundedThousandths)];
  if (debits.length > 1) report('debit_repeated', `has ${debits.length} debits`);
  if (refunds.length > 1) report('refund_repeated', `has ${refunds.length} refunds`);
  if ((debits.length > 0 || request) && refunded > debited) {
    report('refund_over_debit', `was refunded ${refunded} and debited ${debited}`);
  }
  if (!request) {
    if (debits.some((debit) => !mayBeSwept(debit, now))) {
      report('debit_without_request', `was debited ${debited} and is not there`);
    } else if (refunds.some((refund) => !mayBeSwept(refund, now))) {
      report('refund_without_request', `was refunded ${refunded} and is not there`);
    }
    return problems;
  }
  const { status, debitThousandths, costThousandths = 0, refundThousandths = 0 } = request;
  const { debitEntryNumber, refundEntryNumber } = request;
  if (debits.length === 0) report('debit_missing', `has no debit of its ${toXTokens(debitThousandths)}`);
  else if (!isAmong(debits, debitEntryNumber)) {
    const named = debitEntryNumber ?? 'none';
    report('debit_missing', `names ${named} as the number of its debit, which is another`);
  }
  if (debits.length === 1 && debitedThousandths !== debitThousandths) {
    report('debit_amount', `was debited ${debited}, which should be ${toXTokens(debitThousandths)}`);
  }
  if (!isTerminal(request)) {
    if (refunds.length > 0) report('refund_of_unfinished', `was refunded ${refunded} and is ${status}`);
    return problems;
  }
  if (refundedThousandths !== refundThousandths) {
    report('refund_amount', `was refunded ${refunded}, which should be ${toXTokens(refundThousandths)}`);
  }
  const isRefunded = refunds.length > 0 || refundEntryNumber !== undefined;
  if (status === 'failed' && refundedThousandths < debitedThousandths) {
    report('refund_missing', `failed and was refunded ${refunded} of ${debited}`);
  } else if (isRefunded && !isAmong(refunds, refundEntryNumber)) {
    const named = refundEntryNumber ?? 'none';
    report('refund_missing', `names ${named} as the number of its refund, which is another`);
  }
  if (status === 'succeeded' && costThousandths !== debitedThousandths - refundedThousandths) {
    const charged = toXTokens(debitedThousandths - refundedThousandths);
    report('cost', `cost ${toXTokens(costThousandths)} and was charged ${charged}`);
  }
  return problems;
};

const sumOfAmounts = (entries: readonly LedgerEntry[]): Thousandths =>
  entries.reduce((sum, entry) => sum + signedAmount(entry), 0);

const isAmong = (entries: readonly LedgerEntry[], number: number | undefined): boolean =>
  entries.some((entry) => entry.number === number);
