import { $ZodError } from 'zod/v4/core';
import { findAccount, getAccount } from '../accounts/accounts.ts';
import { inParallel } from '../concurrency/in-parallel.ts';
import { NotFoundError } from '../errors.ts';
import { reportUnreadable } from '../observability.ts';
import { type Clock, systemClock, toInstant } from '../time.ts';
import { judgeRequests } from './judge-requests.ts';
import { type LedgerEntry, listLedgerEntries } from './ledger.ts';
import { findLedgerEntries, readLedgerEntries } from './ledger-entries.ts';
import { accountProblems, entryProblems, type LedgerProblem } from './ledger-rules.ts';

/** A ledger to verify, or the rest of one. */
export interface LedgerProgress {
  accountId: string;
  /** The number of the last entry that was verified; absent at the beginning. */
  after?: number | undefined;
}

/** The result of a verification. */
export interface LedgerVerification {
  accounts: number;
  entries: number;
  problems: LedgerProblem[];
}

/** Accounts verified at once. */
const ACCOUNTS_AT_ONCE = 4;
/** Entries of a part: some hundred milliseconds. Their requests are read by twenty calls at once. */
const ENTRIES_AT_ONCE = 2_000;

/** Options of a verification. */
interface Scope {
  /** Whether there is time for another part. */
  hasTime: () => boolean;
  entriesAtOnce?: number;
}

/**
 * Replays these ledgers and checks them against balances and requests. Safe while the service
 * is in use: requests in progress are not reported, and accounts removed during the run are left out. An account that cannot be read
 * is a problem of its own.
 */
export const verifyLedger = async (
  ledgers: Iterable<LedgerProgress>,
  clock: Clock = systemClock,
): Promise<LedgerVerification> => (await verifyLedgers(ledgers, { hasTime: () => true }, clock)).verification;

/**
 * As `verifyLedger`, for a limited time. `left` holds the ledgers not finished in time: pass it in again to
 * continue.
 */
export const verifyLedgers = async (
  ledgers: Iterable<LedgerProgress>,
  scope: Scope,
  clock: Clock = systemClock,
): Promise<{ verification: LedgerVerification; left: LedgerProgress[] }> => {
  // In the order of the ledgers.
  const verified = new Map<string, VerifiedAccount | undefined>();
  await inParallel(ledgers, ACCOUNTS_AT_ONCE, async (ledger) => {
    verified.set(ledger.accountId, undefined);
    const found = scope.hasTime()
      ? await verifyUnlessRemoved(ledger, scope, clock.now())
      : { entries: 0, problems: [], left: ledger };
    verified.set(ledger.accountId, found);
  });
  const kept = [...verified.values()].filter((each) => each !== undefined);
  const left = kept.flatMap((each) => each.left ?? []);
  return {
    verification: {
      accounts: kept.length - left.length,
      entries: kept.reduce((sum, { entries }) => sum + entries, 0),
      problems: kept.flatMap(({ problems }) => problems),
    },
    left,
  };
};

/** The result of a verification of one ledger. `left` is the rest of it, if there was no time for that. */
interface VerifiedAccount extends Omit<LedgerVerification, 'accounts'> {
  left?: LedgerProgress;
}

/**
 * Verifies a ledger. Undefined when the account was removed. A removal deletes the account before its entries, so the account is
 * read after any problem that the removal can cause.
 */
const verifyUnlessRemoved = async (
  ledger: LedgerProgress,
  scope: Scope,
  now: Date,
): Promise<VerifiedAccount | undefined> => {
  try {
    const verified = await verifyAccount(ledger, scope, now);
    const isRemoved = verified.problems.length > 0 && (await findAccount(ledger.accountId)) === undefined;
    return isRemoved ? undefined : verified;
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    if (!(error instanceof $ZodError)) throw error;
    const { accountId } = ledger;
    reportUnreadable(accountId, error);
    const detail = 'The account cannot be read.';
    return { entries: 0, problems: [{ accountId, kind: 'unreadable', detail }] };
  }
};

/**
 * Replays one ledger, part by part, up to the entry that is the newest now, with the requests created until now. Throws
 * `NotFoundError` when the account does not exist.
 */
const verifyAccount = async (
  { accountId, after = 0 }: LedgerProgress,
  { hasTime, entriesAtOnce = ENTRIES_AT_ONCE }: Scope,
  now: Date,
): Promise<VerifiedAccount> => {
  const judgedAt = toInstant(now);
  // The newest entry is read first: so the account, unless it is wrong, counts it.
  const { items } = await listLedgerEntries(accountId, { page: 1, pageSize: 1 }, 1);
  const account = await getAccount(accountId);
  const newest = Math.max(account.ledgerEntries, items[0]?.number ?? 0);
  const verified: VerifiedAccount = { entries: 0, problems: [] };
  let [previous] = after === 0 ? [] : await findLedgerEntries(accountId, [after]);
  const ledger = readLedgerEntries(accountId, after + 1, newest);
  for (;;) {
    const entries = await take(ledger, entriesAtOnce);
    const isLast = entries.length < entriesAtOnce;
    for (const [index, entry] of entries.entries()) {
      verified.problems.push(...entryProblems(entry, entries[index - 1] ?? previous));
    }
    const last = entries.at(-1) ?? previous;
    const until = isLast || !last ? judgedAt : last.createdAt;
    const part = { accountId, entries, after: previous?.createdAt, until };
    verified.problems.push(...(await judgeRequests(part, judgedAt)));
    verified.entries += entries.length;
    previous = last;
    if (isLast) {
      verified.problems.push(...accountProblems(account, previous));
      return verified;
    }
    if (!hasTime()) return { ...verified, left: { accountId, after: previous?.number } };
  }
};

const take = async (ledger: AsyncGenerator<LedgerEntry>, count: number): Promise<LedgerEntry[]> => {
  const entries: LedgerEntry[] = [];
  while (entries.length < count) {
    const { value, done } = await ledger.next();
    if (done) break;
    entries.push(value);
  }
  return entries;
};
