import { type Account, findAccount, getAccount } from '../accounts/accounts.ts';
import { type Clock, systemClock } from '../clock.ts';
import { requiredNumberEnv } from '../environment.ts';
import { NotFoundError } from '../errors.ts';
import { creationTimeOf } from '../ids.ts';
import { listRequestIdsOfAccount } from '../requests/account-requests.ts';
import { isTerminal } from '../requests/request-rules.ts';
import { toInstant } from '../time.ts';
import type { LedgerCheckpoint } from './checkpoint-rules.ts';
import { findCheckpoint, putCheckpoint } from './checkpoints.ts';
import { listLedgerEntries } from './ledger.ts';
import { listEntriesOfRequest, readLedgerEntries } from './ledger-entries.ts';
import {
  accountProblems,
  addEntry,
  addVerifiedEntry,
  type LedgerProblem,
  type LedgerTally,
  newCheckpoint,
  newLedgerTally,
  type RequestFate,
  type RequestJudging,
  requestProblems,
} from './ledger-rules.ts';
import { findRequestFates } from './request-fates.ts';

/** The result of a verification. */
export interface LedgerVerification {
  accounts: number;
  entries: number;
  problems: LedgerProblem[];
}

/** How much to read. */
export interface VerificationScope {
  /** Everything, rather than what is new since the last verification without problems. */
  full: boolean;
}

/** Accounts verified at once. */
const ACCOUNTS_AT_ONCE = 4;

/**
 * Replays the ledgers of these accounts and checks them against balances and requests. An account without problems keeps a
 * checkpoint, from which the next verification that is not full reads on; a full one also finds entries that changed after they
 * were verified. So a run that was cut off is resumed by the next. Safe while the service is in use: requests in progress are not
 * reported, and accounts removed meanwhile are left out.
 */
export const verifyLedger = async (
  accounts: Iterable<Pick<Account, 'accountId'>>,
  { full }: VerificationScope,
  clock: Clock = systemClock,
): Promise<LedgerVerification> => {
  const verified: Awaited<ReturnType<typeof verifyUnlessRemoved>>[] = [];
  const left = Array.from(accounts).entries();
  const verifyOn = async (): Promise<void> => {
    for (const [index, { accountId }] of left)
      verified[index] = await verifyUnlessRemoved(accountId, full, clock);
  };
  await Promise.all(Array.from({ length: ACCOUNTS_AT_ONCE }, verifyOn));
  const kept = verified.filter((each) => each !== undefined);
  return {
    accounts: kept.length,
    entries: kept.reduce((sum, { entries }) => sum + entries, 0),
    problems: kept.flatMap(({ problems }) => problems),
  };
};

/** Undefined when the account was removed. It goes before its entries, so problems that this causes come after. */
const verifyUnlessRemoved = async (
  accountId: string,
  full: boolean,
  clock: Clock,
): Promise<Awaited<ReturnType<typeof verifyAccount>> | undefined> => {
  try {
    const verified = await verifyAccount(accountId, full, clock);
    const isRemoved = verified.problems.length > 0 && (await findAccount(accountId)) === undefined;
    return isRemoved ? undefined : verified;
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
};

/**
 * Replays one ledger.
 *
 * 1. Read all entries, then check every request the account or its ledger names.
 * 2. A request that changed in between is a suspect. Read suspects again, then the new entries, and check
 *    again: a request and its entries are written together, so entries read after a request include all of
 *    its own. Only entries newer than the read of the request can still mislead.
 * 3. A request becomes terminal once, so a second check of the remaining suspects is conclusive.
 * 4. Without problems, the next verification may read on from before the first request that is unfinished.
 */
const verifyAccount = async (
  accountId: string,
  full: boolean,
  clock: Clock,
): Promise<{ entries: number; problems: LedgerProblem[] }> => {
  const judging = { now: toInstant(clock.now()), retentionDays: requiredNumberEnv('RETENTION_DAYS') };
  const verified = await findCheckpoint(accountId);
  const from = full ? undefined : verified;
  const tally = newLedgerTally(accountId, verified, from);
  const reading: LedgerReading = { tally, readUntil: from?.entryNumber ?? 0 };
  let account = await readOn(reading);
  const judgedUntil = reading.readUntil;
  let { suspects, unfinished } = await findSuspects(tally, judging, from);
  let problems: LedgerProblem[] = [];
  for (let recheck = 0; recheck < RECHECKS && suspects.length > 0; recheck++) {
    const fates = await findRequestFates(accountId, suspects);
    account = await readOn(reading);
    const judged = suspects.map((requestId) => judge(reading.tally, requestId, fates, judging));
    suspects = suspects.filter((_, index) => judged[index]?.length);
    problems = judged.flat();
  }
  const found = [...tally.problems, ...accountProblems(tally, account), ...problems];
  const checkpoint = newCheckpoint(tally, judgedUntil, unfinished, judging.now);
  if (found.length === 0 && checkpoint) await putCheckpoint(checkpoint);
  return { entries: tally.entries, problems: found };
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
  const { items } = await listLedgerEntries(accountId, { page: 1, pageSize: 1 }, 1);
  const account = await getAccount(accountId);
  const until = Math.max(account.ledgerEntries, items[0]?.number ?? 0);
  for await (const entry of readLedgerEntries(accountId, reading.readUntil + 1, until)) {
    addEntry(reading.tally, entry);
  }
  reading.readUntil = Math.max(reading.readUntil, until);
  return account;
};

/** Requests read at once. */
const REQUESTS_AT_ONCE = 200;

/**
 * Ids of the requests with problems, and of those unfinished, among all that the account's index or its ledger names: since
 * `from`, if it is given.
 */
const findSuspects = async (
  tally: LedgerTally,
  judging: RequestJudging,
  from: LedgerCheckpoint | undefined,
): Promise<{ suspects: string[]; unfinished: string[] }> => {
  const suspects: string[] = [];
  const unfinished: string[] = [];
  const unlisted = new Set(tally.requests.keys());
  const judgeAll = async (requestIds: string[]): Promise<void> => {
    if (from) await addVerifiedDebits(tally, requestIds, from);
    const fates = await findRequestFates(tally.accountId, requestIds);
    suspects.push(...requestIds.filter((id) => judge(tally, id, fates, judging).length > 0));
    unfinished.push(...requestIds.filter((id) => isUnfinished(fates.get(id))));
  };
  const listed = listRequestIdsOfAccount(tally.accountId, { createdFrom: from?.entryAt });
  for await (const requestIds of inChunks(listed)) {
    for (const requestId of requestIds) unlisted.delete(requestId);
    // An entry is never dated before its change: what was created by then has its debit up to there, or is named by a new entry.
    await judgeAll(
      requestIds.filter((id) => tally.requests.has(id) || !from || creationTimeOf(id) > from.entryAt),
    );
  }
  for await (const requestIds of inChunks(unlisted)) await judgeAll(requestIds);
  return { suspects, unfinished };
};

const isUnfinished = (fate: RequestFate | undefined): boolean =>
  fate?.state === 'kept' && !isTerminal(fate.request);

/** Adds the debits, up to a checkpoint, of the requests that are so old that theirs may be there. */
const addVerifiedDebits = async (
  tally: LedgerTally,
  requestIds: readonly string[],
  { accountId, entryNumber, entryAt }: LedgerCheckpoint,
): Promise<void> => {
  const ledger = { accountId, ledgerEntries: entryNumber };
  for (const requestId of requestIds) {
    const createdAt = creationTimeOf(requestId);
    if (createdAt > entryAt) continue;
    const debits = await listEntriesOfRequest(ledger, { requestId, createdAt });
    for (const debit of debits) if (debit.number <= entryNumber) addVerifiedEntry(tally, debit);
  }
};

const inChunks = async function* <T>(items: AsyncIterable<T> | Iterable<T>): AsyncGenerator<T[]> {
  let chunk: T[] = [];
  for await (const item of items) {
    chunk.push(item);
    if (chunk.length < REQUESTS_AT_ONCE) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
};

const judge = (
  { accountId, requests }: LedgerTally,
  requestId: string,
  fates: ReadonlyMap<string, RequestFate>,
  judging: RequestJudging,
): LedgerProblem[] => {
  const fate = fates.get(requestId) ?? { state: 'absent' };
  return requestProblems(accountId, requestId, requests.get(requestId), fate, judging);
};
