import * as z from 'zod/mini';
import type { Account } from '../accounts/accounts.ts';
import { type Thousandths, toXTokens } from '../money.ts';
import { STORED_STATUSES } from '../requests/request-rules.ts';
import type { Instant } from '../time.ts';
import type { LedgerEntry } from './ledger.ts';

/** Everything that can be wrong with a ledger. */
export const LEDGER_PROBLEM_KINDS = [
  /** An entry's number does not follow the one before: a gap, or a repetition. */
  'entry_number',
  /** An entry's balance is not the one before with its amount. */
  'entry_chain',
  /** The account counts another number of entries than the newest one's. */
  'entry_counter',
  /** The account's balance is not the newest entry's. */
  'balance',
  /** A request that was accepted without a debit. */
  'debit_missing',
  'debit_repeated',
  /** A debit of another amount than the request's own. */
  'debit_amount',
  /** A debit of a request that is not there, and has no reason not to be. */
  'debit_without_request',
  'refund_repeated',
  /** More was refunded than debited. */
  'refund_over_debit',
  /** Something was refunded while the request is not over. */
  'refund_of_unfinished',
  /** A failed request that was not refunded in full. */
  'refund_missing',
  /** A refund of another amount than the request's own. */
  'refund_amount',
  /** A succeeded request whose cost is not its debit less its refund. */
  'cost',
] as const;
export type LedgerProblemKind = (typeof LEDGER_PROBLEM_KINDS)[number];

export interface LedgerProblem {
  accountId: string;
  kind: LedgerProblemKind;
  /** What is wrong, for an operator: the entry or the request and the amounts in xTokens. */
  detail: string;
}

/** What the entries read so far say of one request. */
export interface RequestTally {
  debits: number;
  debitedThousandths: Thousandths;
  refunds: number;
  refundedThousandths: Thousandths;
  /** When its first entry was made: with its debit, the request's creation. */
  since: Instant;
}

/** What the entries of an account say that were read so far, oldest first. Holds one small object a request. */
export interface LedgerTally {
  accountId: string;
  entries: number;
  newestNumber: number;
  balanceThousandths: Thousandths;
  requests: Map<string, RequestTally>;
  problems: LedgerProblem[];
}

export const newLedgerTally = (accountId: string): LedgerTally => ({
  accountId,
  entries: 0,
  newestNumber: 0,
  balanceThousandths: 0,
  requests: new Map(),
  problems: [],
});

const signedAmount = ({ type, amountThousandths }: LedgerEntry): Thousandths =>
  type === 'credit' ? amountThousandths : -amountThousandths;

/** Adds the next entry, noting what is wrong with its place in the chain. After a break the chain goes on from the entry as it is. */
export const addEntry = (tally: LedgerTally, entry: LedgerEntry): void => {
  const { accountId, problems } = tally;
  const { number, balanceAfterThousandths } = entry;
  const expected = tally.newestNumber + 1;
  if (number !== expected) {
    problems.push({
      accountId,
      kind: 'entry_number',
      detail: `Entry ${number} stands where ${expected} should.`,
    });
  }
  const after = tally.balanceThousandths + signedAmount(entry);
  if (balanceAfterThousandths !== after) {
    const detail = `Entry ${number} leaves ${toXTokens(balanceAfterThousandths)}, which should be ${toXTokens(after)}.`;
    problems.push({ accountId, kind: 'entry_chain', detail });
  }
  tally.entries += 1;
  tally.newestNumber = number;
  tally.balanceThousandths = balanceAfterThousandths;
  tallyRequest(tally.requests, entry);
};

const tallyRequest = (requests: Map<string, RequestTally>, entry: LedgerEntry): void => {
  if (entry.reason !== 'generation' && entry.reason !== 'refund') return;
  const tally = requests.get(entry.reference) ?? emptyTally(entry.createdAt);
  requests.set(entry.reference, tally);
  if (entry.reason === 'generation') {
    tally.debits += 1;
    tally.debitedThousandths -= signedAmount(entry);
  } else {
    tally.refunds += 1;
    tally.refundedThousandths += signedAmount(entry);
  }
};

const emptyTally = (since: Instant): RequestTally => ({
  debits: 0,
  debitedThousandths: 0,
  refunds: 0,
  refundedThousandths: 0,
  since,
});

/** What is wrong with an account, given all entries of its ledger. */
export const accountProblems = (
  { accountId, newestNumber, balanceThousandths: newest }: LedgerTally,
  { ledgerEntries, balanceThousandths }: Pick<Account, 'ledgerEntries' | 'balanceThousandths'>,
): LedgerProblem[] => {
  const problems: LedgerProblem[] = [];
  if (ledgerEntries !== newestNumber) {
    const detail = `${ledgerEntries} entries are counted and the newest is number ${newestNumber}.`;
    problems.push({ accountId, kind: 'entry_counter', detail });
  }
  if (balanceThousandths !== newest) {
    const detail = `The balance is ${toXTokens(balanceThousandths)} and the newest entry leaves ${toXTokens(newest)}.`;
    problems.push({ accountId, kind: 'balance', detail });
  }
  return problems;
};

/** A request as far as its money goes. */
export const AccountedRequest = z.object({
  requestId: z.string(),
  accountId: z.string(),
  status: z.enum(STORED_STATUSES),
  debitThousandths: z.number(),
  costThousandths: z.optional(z.number()),
  refundThousandths: z.optional(z.number()),
});
export type AccountedRequest = z.infer<typeof AccountedRequest>;

/** What became of a request that an account or its ledger names: it is there, was deleted by its owner, or is not there. */
export type RequestFate =
  | { state: 'kept'; request: AccountedRequest }
  | { state: 'deleted' }
  | { state: 'absent' };

/**
 * What is wrong between a request and the ledger of its account. A request whose first entry is older than
 * `sweptBefore` may be absent: its retention can be over.
 */
export const requestProblems = (
  accountId: string,
  requestId: string,
  tally: RequestTally | undefined,
  fate: RequestFate,
  sweptBefore: Instant,
): LedgerProblem[] => {
  const told = tally ?? emptyTally('');
  const problems: LedgerProblem[] = [];
  const report = (kind: LedgerProblemKind, what: string): void => {
    problems.push({ accountId, kind, detail: `Request ${requestId} ${what}.` });
  };
  const { debits, refunds } = told;
  const [debited, refunded] = [toXTokens(told.debitedThousandths), toXTokens(told.refundedThousandths)];
  if (debits > 1) report('debit_repeated', `has ${debits} debits`);
  if (refunds > 1) report('refund_repeated', `has ${refunds} refunds`);
  if (refunded > debited) report('refund_over_debit', `was refunded ${refunded} and debited ${debited}`);
  if (fate.state === 'kept' && fate.request.accountId === accountId) {
    checkKept(fate.request, told, report);
  } else if (fate.state !== 'deleted' && debits > 0 && told.since >= sweptBefore) {
    report('debit_without_request', `was debited ${debited} and is not there`);
  }
  return problems;
};

const checkKept = (
  { status, debitThousandths, costThousandths = 0, refundThousandths = 0 }: AccountedRequest,
  { debits, debitedThousandths, refunds, refundedThousandths }: RequestTally,
  report: (kind: LedgerProblemKind, what: string) => void,
): void => {
  const [debited, refunded] = [toXTokens(debitedThousandths), toXTokens(refundedThousandths)];
  if (debits === 0) report('debit_missing', `has no debit of its ${toXTokens(debitThousandths)}`);
  if (debits === 1 && debitedThousandths !== debitThousandths) {
    report('debit_amount', `was debited ${debited}, which should be ${toXTokens(debitThousandths)}`);
  }
  if (status === 'queued' || status === 'processing') {
    if (refunds > 0) report('refund_of_unfinished', `was refunded ${refunded} and is ${status}`);
    return;
  }
  if (refundedThousandths !== refundThousandths) {
    report('refund_amount', `was refunded ${refunded}, which should be ${toXTokens(refundThousandths)}`);
  }
  if (status === 'failed' && refundedThousandths < debitedThousandths) {
    report('refund_missing', `failed and was refunded ${refunded} of ${debited}`);
  }
  if (status === 'succeeded' && costThousandths !== debitedThousandths - refundedThousandths) {
    const charged = toXTokens(debitedThousandths - refundedThousandths);
    report('cost', `cost ${toXTokens(costThousandths)} and was charged ${charged}`);
  }
};
