import { type Account, getAccount } from '../accounts/accounts.ts';
import { type Instant, toInstant } from '../time.ts';
import type { LedgerCheckpoint, LedgerMark } from './checkpoint-rules.ts';
import { doubtCheckpoint, findCheckpoint, putCheckpoint } from './checkpoints.ts';
import { findSuspects, isJudgedAfter, judge, listEntriesByFate, type Suspects } from './judge-requests.ts';
import { listLedgerEntries } from './ledger.ts';
import { readLedgerEntries } from './ledger-entries.ts';
import {
  accountProblems,
  addEntry,
  type LedgerProblem,
  type LedgerTally,
  newLedgerTally,
  verifiedUntil,
} from './ledger-rules.ts';
import { findRequestFates } from './request-fates.ts';

/** A ledger to verify, or what is left of one whose verification was not done in time. */
export interface LedgerProgress {
  accountId: string;
  /** What this run has verified of it; absent at its beginning. */
  from?: LedgerMark | undefined;
  /** Whether this run found problems there. It then keeps no checkpoint, so that the next run finds them again. */
  hasProblems?: boolean | undefined;
  /** Whether this run read on from a checkpoint. Then it keeps none when that is doubted meanwhile. */
  readsOn?: boolean | undefined;
}

/** How to verify a ledger. */
export interface AccountScope {
  /** Everything, rather than what is new since the last verification without problems. */
  full: boolean;
  now: Date;
  /** Whether there is time for another part. */
  hasTime: () => boolean;
  /** Entries of a part. */
  entriesAtOnce: number;
}

/** What was found of a ledger, and what is left of it where there was no time for more. */
export interface VerifiedAccount {
  entries: number;
  problems: LedgerProblem[];
  left?: LedgerProgress;
}

/**
 * Replays one ledger, part by part. After each part without problems it keeps a checkpoint, where that comes further than the one
 * before. A checkpoint is doubted when a problem is found before it: the next verification then reads everything, full or not.
 * Throws `NotFoundError` when the account does not exist.
 */
export const verifyAccount = async (
  { accountId, from: resumed, hasProblems = false, readsOn: didReadOn = false }: LedgerProgress,
  { full, now, hasTime, entriesAtOnce }: AccountScope,
): Promise<VerifiedAccount> => {
  const judgedAt = toInstant(now);
  const verified = await findCheckpoint(accountId);
  const found: VerifiedAccount = { entries: 0, problems: [] };
  const readsOn = resumed ? didReadOn : !full && verified !== undefined && verified.doubtedAt === undefined;
  let from = resumed ?? (readsOn ? verified : undefined);
  let isClean = !hasProblems;
  for (;;) {
    const part = await verifyPart({ accountId, verified, from, entriesAtOnce, judgedAt });
    found.entries += part.entries;
    found.problems.push(...part.problems);
    isClean &&= part.problems.length === 0;
    if (isClean && part.until && part.until.entryNumber >= (verified?.entryNumber ?? 0)) {
      await putCheckpoint({ accountId, ...part.until, verifiedAt: judgedAt }, readsOn);
    }
    const isVerifiedPart = (from?.entryNumber ?? 0) < (verified?.entryNumber ?? 0);
    if (verified && isVerifiedPart && part.problems.length > 0) await doubtCheckpoint(verified, judgedAt);
    if (part.isLast) return found;
    from = part.until;
    if (!hasTime()) {
      const state = { ...(!isClean && { hasProblems: true }), ...(readsOn && { readsOn }) };
      return { ...found, left: { accountId, from, ...state } };
    }
  }
};

/** A ledger from a mark on. */
interface LedgerRest {
  accountId: string;
  verified: LedgerCheckpoint | undefined;
  from: LedgerMark | undefined;
  entriesAtOnce: number;
  judgedAt: Instant;
}

/** What was found in a part of a ledger, and up to where it is verified. */
interface VerifiedPart {
  entries: number;
  problems: LedgerProblem[];
  until: LedgerMark | undefined;
  isLast: boolean;
}

/**
 * Verifies the next entries, so many that there is a mark among them up to which no request can get another entry; or all, if
 * those are no more.
 */
const verifyPart = async (rest: LedgerRest): Promise<VerifiedPart> => {
  const { accountId, from, entriesAtOnce } = rest;
  const start = from?.entryNumber ?? 0;
  for (let size = entriesAtOnce; ; size *= 2) {
    const { newest } = await readHead(accountId);
    if (start + size >= newest) return verifyToEnd(rest);
    const part = await verifySome(rest, start + size);
    if ((part.until?.entryNumber ?? 0) > start) return part;
  }
};

/**
 * Replays a part that is not the last. What a request that it names gets in a later part is no problem, and
 * that request is left to the next part with all its entries.
 */
const verifySome = async (
  { accountId, verified, from, judgedAt }: LedgerRest,
  last: number,
): Promise<VerifiedPart> => {
  const tally = newLedgerTally(accountId, verified, from);
  const start = tally.newestNumber;
  for await (const entry of readLedgerEntries(accountId, start + 1, last)) addEntry(tally, entry);
  const createdUntil = tally.marks.at(-1)?.entryAt;
  const found = await findSuspects(tally, judgedAt, { from, createdUntil });
  const { open, problems } = await splitSuspects(tally, judgedAt, found, last);
  const until = verifiedUntil(tally, last, [...found.unfinished, ...open]);
  const end = until?.entryNumber ?? 0;
  return {
    entries: Math.max(0, end - start),
    problems: [
      ...tally.problems.flatMap(({ number, problem }) => (number <= end ? [problem] : [])),
      // What comes after the mark is judged again.
      ...[...problems].flatMap(([id, each]) => (until && !isJudgedAfter(tally, id, until) ? each : [])),
    ],
    until,
    isLast: false,
  };
};

/** The suspects that get an entry after this one, and the problems of the others, by request. */
const splitSuspects = async (
  tally: LedgerTally,
  judgedAt: Instant,
  { suspects, fates }: Suspects,
  last: number,
): Promise<{ open: string[]; problems: Map<string, LedgerProblem[]> }> => {
  const { account } = await readHead(tally.accountId);
  const open: string[] = [];
  const problems = new Map<string, LedgerProblem[]>();
  for (const requestId of suspects) {
    const entries = await listEntriesByFate(account, requestId, fates.get(requestId));
    if (entries.some(({ number }) => number > last)) open.push(requestId);
    else problems.set(requestId, judge(tally, requestId, fates, judgedAt));
  }
  return { open, problems };
};

/**
 * Replays a ledger to its end.
 *
 * 1. Read all entries, then check every request the account or its ledger names.
 * 2. A request that changed in between is a suspect. Read suspects again, then the new entries, and check
 *    again: a request and its entries are written together, so entries read after a request include all of
 *    its own. Only entries newer than the read of the request can still mislead.
 * 3. A request becomes terminal once, so a second check of the remaining suspects is conclusive.
 * 4. The next verification may read on from before the first request that is unfinished.
 */
const verifyToEnd = async ({ accountId, verified, from, judgedAt }: LedgerRest): Promise<VerifiedPart> => {
  const tally = newLedgerTally(accountId, verified, from);
  const reading: LedgerReading = { tally, readUntil: from?.entryNumber ?? 0 };
  let account = await readOn(reading);
  const judgedUntil = reading.readUntil;
  let { suspects, unfinished } = await findSuspects(tally, judgedAt, { from });
  let problems: LedgerProblem[] = [];
  for (let recheck = 0; recheck < RECHECKS && suspects.length > 0; recheck++) {
    const fates = await findRequestFates(accountId, suspects);
    account = await readOn(reading);
    const judged = suspects.map((requestId) => judge(reading.tally, requestId, fates, judgedAt));
    suspects = suspects.filter((_, index) => judged[index]?.length);
    problems = judged.flat();
  }
  return {
    entries: tally.entries,
    problems: [
      ...tally.problems.map(({ problem }) => problem),
      ...accountProblems(tally, account),
      ...problems,
    ],
    until: verifiedUntil(tally, judgedUntil, unfinished),
    isLast: true,
  };
};

/** How often suspects are checked again. */
const RECHECKS = 2;

/** The part of a ledger read so far. */
interface LedgerReading {
  tally: LedgerTally;
  /** The number of the last entry read. */
  readUntil: number;
}

/**
 * Reads the entries since the last read, and returns the account as of the newest of them or later. The
 * newest number is read before the account, so that a counter that lags behind it shows.
 */
const readOn = async (reading: LedgerReading): Promise<Account> => {
  const { accountId } = reading.tally;
  const { account, newest } = await readHead(accountId);
  for await (const entry of readLedgerEntries(accountId, reading.readUntil + 1, newest)) {
    addEntry(reading.tally, entry);
  }
  reading.readUntil = Math.max(reading.readUntil, newest);
  return account;
};

/** An account, and the number of its newest entry: by its counter, or by an entry that is not counted. */
const readHead = async (accountId: string): Promise<{ account: Account; newest: number }> => {
  const { items } = await listLedgerEntries(accountId, { page: 1, pageSize: 1 }, 1);
  const account = await getAccount(accountId);
  return { account, newest: Math.max(account.ledgerEntries, items[0]?.number ?? 0) };
};
