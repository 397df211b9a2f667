import { getAccount } from '../accounts/accounts.ts';
import { toInstant } from '../time.ts';
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

/** How to verify a ledger. */
export interface AccountScope {
  now: Date;
  /** Whether there is time for another part. */
  hasTime: () => boolean;
  /** Entries of a part. */
  entriesAtOnce: number;
}

/** The result of a verification of one ledger. */
export interface VerifiedAccount {
  entries: number;
  problems: LedgerProblem[];
  /** The rest of the ledger, if there was no time for it. */
  left?: LedgerProgress;
}

/**
 * Replays one ledger, part by part, up to the entry that is the newest now, with the requests created until now. Throws
 * `NotFoundError` when the account does not exist.
 */
export const verifyAccount = async (
  { accountId, after = 0 }: LedgerProgress,
  { now, hasTime, entriesAtOnce }: AccountScope,
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
