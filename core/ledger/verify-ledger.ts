import { type Account, findAccount, getAccount } from '../accounts/accounts.ts';
import { type Clock, systemClock } from '../clock.ts';
import { requiredNumberEnv } from '../environment.ts';
import { NotFoundError } from '../errors.ts';
import { listRequestIdsOfAccount } from '../requests/account-requests.ts';
import { toInstant } from '../time.ts';
import { listLedgerEntries } from './ledger.ts';
import { readLedgerEntries } from './ledger-entries.ts';
import {
  accountProblems,
  addEntry,
  type LedgerProblem,
  type LedgerTally,
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

/**
 * Replays the ledgers of these accounts, one after another, and checks them against balances and requests.
 * Safe while the service is in use: requests in progress are not reported, and accounts removed meanwhile are left out.
 */
export const verifyLedger = async (
  accounts: Iterable<Pick<Account, 'accountId'>>,
  clock: Clock = systemClock,
): Promise<LedgerVerification> => {
  const whole: LedgerVerification = { accounts: 0, entries: 0, problems: [] };
  for (const { accountId } of accounts) {
    const verified = await verifyUnlessRemoved(accountId, clock);
    if (!verified) continue;
    whole.accounts += 1;
    whole.entries += verified.entries;
    whole.problems.push(...verified.problems);
  }
  return whole;
};

/** Undefined when the account was removed. It goes before its entries, so problems that this causes come after. */
const verifyUnlessRemoved = async (
  accountId: string,
  clock: Clock,
): Promise<Awaited<ReturnType<typeof verifyAccount>> | undefined> => {
  try {
    const verified = await verifyAccount(accountId, clock);
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
 */
const verifyAccount = async (
  accountId: string,
  clock: Clock,
): Promise<{ entries: number; problems: LedgerProblem[] }> => {
  const judging = { now: toInstant(clock.now()), retentionDays: requiredNumberEnv('RETENTION_DAYS') };
  const reading: LedgerReading = { tally: newLedgerTally(accountId), readUntil: 0 };
  let account = await readOn(reading);
  let suspects = await findSuspects(reading.tally, judging);
  let problems: LedgerProblem[] = [];
  for (let recheck = 0; recheck < RECHECKS && suspects.length > 0; recheck++) {
    const fates = await findRequestFates(accountId, suspects);
    account = await readOn(reading);
    const judged = suspects.map((requestId) => judge(reading.tally, requestId, fates, judging));
    suspects = suspects.filter((_, index) => judged[index]?.length);
    problems = judged.flat();
  }
  const { tally } = reading;
  return {
    entries: tally.entries,
    problems: [...tally.problems, ...accountProblems(tally, account), ...problems],
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

/** Ids of the requests with problems, among all that the account's index or its ledger names. */
const findSuspects = async (tally: LedgerTally, judging: RequestJudging): Promise<string[]> => {
  const suspects: string[] = [];
  const unlisted = new Set(tally.requests.keys());
  const judgeAll = async (requestIds: string[]): Promise<void> => {
    const fates = await findRequestFates(tally.accountId, requestIds);
    suspects.push(...requestIds.filter((id) => judge(tally, id, fates, judging).length > 0));
  };
  for await (const requestIds of inChunks(listRequestIdsOfAccount(tally.accountId))) {
    for (const requestId of requestIds) unlisted.delete(requestId);
    await judgeAll(requestIds);
  }
  for await (const requestIds of inChunks(unlisted)) await judgeAll(requestIds);
  return suspects;
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
