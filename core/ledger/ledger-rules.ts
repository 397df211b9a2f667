import * as z from 'zod/mini';
import type { Account } from '../accounts/accounts.ts';
import { type Thousandths, toXTokens } from '../money.ts';
import { STORED_STATUSES } from '../requests/request-rules.ts';
import { type Instant, SECONDS_PER_DAY } from '../time.ts';
import {
  addMark,
  FIRST_DIGEST,
  type LedgerCheckpoint,
  type LedgerMark,
  markUntil,
  nextDigest,
} from './checkpoint-rules.ts';
import type { LedgerEntry } from './ledger.ts';

/** Every kind of problem a ledger can have. */
export const LEDGER_PROBLEM_KINDS = [
  /** An entry's number does not follow the previous one. */
  'entry_number',
  /** An entry's balance is not the previous balance plus its amount. */
  'entry_chain',
  /** The account's entry counter is not the newest entry's number. */
  'entry_counter',
  /** The account's balance is not the newest entry's. */
  'balance',
  /** An entry that had been verified is absent or another since. */
  'checkpoint',
  /** A request has no debit. */
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
  /** A failed request was not refunded in full. */
  'refund_missing',
  /** A refund's amount is not the request's. */
  'refund_amount',
  /** A succeeded request's cost is not its debit minus its refund. */
  'cost',
] as const;
export type LedgerProblemKind = (typeof LEDGER_PROBLEM_KINDS)[number];

/** A problem found in an account's ledger. */
export interface LedgerProblem {
  accountId: string;
  kind: LedgerProblemKind;
  /** For operators: the entry or request, and the amounts in xTokens. */
  detail: string;
}

/** Sums over the entries of one request. */
export interface RequestTally {
  /** The first entry of it that was read. */
  firstNumber: number;
  debits: number;
  debitedThousandths: Thousandths;
  refunds: number;
  refundedThousandths: Thousandths;
  /** Instant of the first entry: for a debit, the request's creation. */
  since: Instant;
  /** How long the request is kept after its end, as its debit says; for ever without one. */
  retentionDays: number;
}

/** Sums over an account's entries read so far, oldest first. Holds one small object per request. */
export interface LedgerTally {
  accountId: string;
  entries: number;
  newestNumber: number;
  balanceThousandths: Thousandths;
  /** Of all entries up to the newest. */
  digest: string;
  /** Where a checkpoint can be made. */
  marks: LedgerMark[];
  /** What an earlier verification found at its last entry. */
  verified: LedgerCheckpoint | undefined;
  requests: Map<string, RequestTally>;
  /** Of the chain, each with the number of its entry. */
  problems: { number: number; problem: LedgerProblem }[];
}

/** The tally of a ledger before its first entry, or, with `from`, after the last one that was verified. */
export const newLedgerTally = (
  accountId: string,
  verified?: LedgerCheckpoint,
  from?: LedgerMark,
): LedgerTally => ({
  accountId,
  entries: 0,
  newestNumber: from?.entryNumber ?? 0,
  balanceThousandths: from?.balanceThousandths ?? 0,
  digest: from?.digest ?? FIRST_DIGEST,
  marks: [],
  verified,
  requests: new Map(),
  problems: [],
});

const signedAmount = ({ type, amountThousandths }: LedgerEntry): Thousandths =>
  type === 'credit' ? amountThousandths : -amountThousandths;

/**
 * Adds the next entry and any problem with its place in the chain. After a break, the chain continues from
 * the entry.
 */
export const addEntry = (tally: LedgerTally, entry: LedgerEntry): void => {
  const { number, balanceAfterThousandths } = entry;
  const report = (kind: LedgerProblemKind, detail: string): void => {
    tally.problems.push({ number, problem: { accountId: tally.accountId, kind, detail } });
  };
  const expected = tally.newestNumber + 1;
  if (number !== expected) report('entry_number', `Entry ${number} stands where ${expected} should.`);
  const after = tally.balanceThousandths + signedAmount(entry);
  if (balanceAfterThousandths !== after) {
    const [left, should] = [toXTokens(balanceAfterThousandths), toXTokens(after)];
    report('entry_chain', `Entry ${number} leaves ${left}, which should be ${should}.`);
  }
  tally.entries += 1;
  tally.newestNumber = number;
  tally.balanceThousandths = balanceAfterThousandths;
  tally.digest = nextDigest(tally.digest, entry);
  const mark = { entryNumber: number, balanceThousandths: balanceAfterThousandths };
  addMark(tally.marks, { ...mark, digest: tally.digest, entryAt: entry.createdAt });
  if (number === tally.verified?.entryNumber && tally.digest !== tally.verified.digest) {
    report(
      'checkpoint',
      `Entry ${number}, or one before it, is not as it was on ${tally.verified.verifiedAt}.`,
    );
  }
  tallyRequest(tally.requests, entry);
};

/** Adds an entry that was verified before, for the sums of its request. */
export const addVerifiedEntry = ({ requests }: LedgerTally, entry: LedgerEntry): void =>
  tallyRequest(requests, entry);

const tallyRequest = (requests: Map<string, RequestTally>, entry: LedgerEntry): void => {
  if (entry.reason !== 'generation' && entry.reason !== 'refund') return;
  const tally = requests.get(entry.reference) ?? emptyTally(entry.createdAt, entry.number);
  requests.set(entry.reference, tally);
  if (entry.reason === 'generation') {
    tally.debits += 1;
    tally.debitedThousandths -= signedAmount(entry);
    tally.retentionDays = entry.retentionDays ?? Number.POSITIVE_INFINITY;
  } else {
    tally.refunds += 1;
    tally.refundedThousandths += signedAmount(entry);
  }
};

const emptyTally = (since: Instant, firstNumber = 0): RequestTally => ({
  firstNumber,
  debits: 0,
  debitedThousandths: 0,
  refunds: 0,
  refundedThousandths: 0,
  since,
  retentionDays: Number.POSITIVE_INFINITY,
});

/** The problems between an account and the tally of its whole ledger. */
export const accountProblems = (
  { accountId, newestNumber, balanceThousandths: newest, verified }: LedgerTally,
  { ledgerEntries, balanceThousandths }: Pick<Account, 'ledgerEntries' | 'balanceThousandths'>,
): LedgerProblem[] => {
  const problems: LedgerProblem[] = [];
  if (ledgerEntries !== newestNumber) {
    const detail = `${ledgerEntries} entries are counted and the newest is number ${newestNumber}.`;
    problems.push({ accountId, kind: 'entry_counter', detail });
  }
  if (verified && newestNumber < verified.entryNumber) {
    const detail = `${verified.entryNumber} entries were verified on ${verified.verifiedAt} and the newest is number ${newestNumber}.`;
    problems.push({ accountId, kind: 'checkpoint', detail });
  }
  if (balanceThousandths !== newest) {
    const detail = `The balance is ${toXTokens(balanceThousandths)} and the newest entry leaves ${toXTokens(newest)}.`;
    problems.push({ accountId, kind: 'balance', detail });
  }
  return problems;
};

/**
 * Up to where a ledger is verified: to the last entry that was judged, or before the first one of a request that may still
 * get another. Undefined when that is before the first place where a checkpoint can be made.
 */
export const verifiedUntil = (
  { requests, marks }: Pick<LedgerTally, 'requests' | 'marks'>,
  judgedUntil: number,
  unfinished: Iterable<string>,
): LedgerMark | undefined => {
  let until = judgedUntil;
  for (const requestId of unfinished) {
    const first = requests.get(requestId)?.firstNumber;
    if (first !== undefined) until = Math.min(until, first - 1);
  }
  return markUntil(marks, until);
};

/** The amounts of a stored request. */
export const AccountedRequest = z.object({
  requestId: z.string(),
  accountId: z.string(),
  status: z.enum(STORED_STATUSES),
  debitThousandths: z.number(),
  costThousandths: z.optional(z.number()),
  refundThousandths: z.optional(z.number()),
  finishedAt: z.optional(z.string()),
});
export type AccountedRequest = z.infer<typeof AccountedRequest>;

/** Whether a request that an account or its ledger names is kept, was deleted by its owner, or is absent. */
export type RequestFate =
  | { state: 'kept'; request: AccountedRequest }
  | { state: 'deleted' }
  | { state: 'absent' };

/** DynamoDB removes requests past retention by its own clock, which may differ from ours. */
const SWEEP_MARGIN_SECONDS = 3600;

/**
 * Whether a request may be past retention: one that failed immediately is removed earliest. Its retention was
 * fixed when it was created, so no later setting counts.
 */
const mayBeSwept = ({ since, retentionDays }: RequestTally, now: Instant): boolean =>
  Date.parse(now) + (SWEEP_MARGIN_SECONDS - retentionDays * SECONDS_PER_DAY) * 1000 > Date.parse(since);

/** The problems between a request and its account's ledger. A request that may be past retention may be absent. */
export const requestProblems = (
  accountId: string,
  requestId: string,
  tally: RequestTally | undefined,
  fate: RequestFate,
  now: Instant,
): LedgerProblem[] => {
  const sums = tally ?? emptyTally('');
  const problems: LedgerProblem[] = [];
  const report = (kind: LedgerProblemKind, what: string): void => {
    problems.push({ accountId, kind, detail: `Request ${requestId} ${what}.` });
  };
  const { debits, refunds } = sums;
  const [debited, refunded] = [toXTokens(sums.debitedThousandths), toXTokens(sums.refundedThousandths)];
  if (debits > 1) report('debit_repeated', `has ${debits} debits`);
  if (refunds > 1) report('refund_repeated', `has ${refunds} refunds`);
  if (refunded > debited) report('refund_over_debit', `was refunded ${refunded} and debited ${debited}`);
  if (fate.state === 'kept' && fate.request.accountId === accountId) {
    checkKept(fate.request, sums, report);
  } else if (fate.state !== 'deleted' && debits > 0 && !mayBeSwept(sums, now)) {
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
