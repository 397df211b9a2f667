import type { Account } from '../accounts/accounts.ts';
import { creationTimeOf } from '../ids.ts';
import { listRequestIdsOfAccount } from '../requests/account-requests.ts';
import { isTerminal } from '../requests/request-rules.ts';
import type { Instant } from '../time.ts';
import type { LedgerMark } from './checkpoint-rules.ts';
import type { LedgerEntry } from './ledger.ts';
import { listEntriesOfRequest } from './ledger-entries.ts';
import {
  addVerifiedEntry,
  type LedgerProblem,
  type LedgerTally,
  type RequestFate,
  requestProblems,
} from './ledger-rules.ts';
import { findRequestFates } from './request-fates.ts';

/** Requests read at once. */
const REQUESTS_AT_ONCE = 200;

/** Requests of a tally that need a second look, by id. */
export interface Suspects {
  /** With problems, as far as the tally goes. */
  suspects: string[];
  /** What may still get a refund. */
  unfinished: string[];
  /** Of the suspects. */
  fates: Map<string, RequestFate>;
}

/** The requests to judge besides those that the entries name. */
export interface JudgedRequests {
  /** Those created by then were judged before. */
  from?: LedgerMark | undefined;
  /** Those created later are judged later. */
  createdUntil?: Instant | undefined;
}

/** Checks all requests that the account's index or its ledger names, within these limits. */
export const findSuspects = async (
  tally: LedgerTally,
  judgedAt: Instant,
  { from, createdUntil }: JudgedRequests,
): Promise<Suspects> => {
  const found: Suspects = { suspects: [], unfinished: [], fates: new Map() };
  const unlisted = new Set(tally.requests.keys());
  const judgeAll = async (requestIds: string[]): Promise<void> => {
    const fates = await findRequestFates(tally.accountId, requestIds);
    if (from) await addVerifiedEntries(tally, requestIds, fates, from);
    for (const requestId of requestIds) {
      const fate = fates.get(requestId);
      if (isUnfinished(fate)) found.unfinished.push(requestId);
      if (!fate || judge(tally, requestId, fates, judgedAt).length === 0) continue;
      found.suspects.push(requestId);
      found.fates.set(requestId, fate);
    }
  };
  const listed = listRequestIdsOfAccount(tally.accountId, { createdFrom: from?.entryAt, createdUntil });
  for await (const requestIds of inChunks(listed)) {
    for (const requestId of requestIds) unlisted.delete(requestId);
    // An entry is never dated before its change: what was created by then has its debit up to there, or is named by a new entry.
    await judgeAll(
      requestIds.filter((id) => tally.requests.has(id) || !from || creationTimeOf(id) > from.entryAt),
    );
  }
  for await (const requestIds of inChunks(unlisted)) await judgeAll(requestIds);
  return found;
};

const isUnfinished = (fate: RequestFate | undefined): boolean =>
  fate?.state === 'kept' && !isTerminal(fate.request);

/** Adds the entries, up to a mark, of the requests that are so old that theirs may be there. */
const addVerifiedEntries = async (
  tally: LedgerTally,
  requestIds: readonly string[],
  fates: ReadonlyMap<string, RequestFate>,
  { entryNumber, entryAt }: LedgerMark,
): Promise<void> => {
  const ledger = { accountId: tally.accountId, ledgerEntries: entryNumber };
  for (const requestId of requestIds) {
    if (creationTimeOf(requestId) > entryAt) continue;
    // An entry is never dated before its change, so that of a later end is not there.
    const entries = await listEntriesByFate(ledger, requestId, fates.get(requestId), entryAt);
    for (const entry of entries) if (entry.number <= entryNumber) addVerifiedEntry(tally, entry);
  }
};

/** The debit of a request, and its refund if its record says that it got one, by this instant if one is given. */
export const listEntriesByFate = (
  ledger: Pick<Account, 'accountId' | 'ledgerEntries'>,
  requestId: string,
  fate: RequestFate | undefined,
  endedBy?: Instant,
): Promise<LedgerEntry[]> => {
  const createdAt = creationTimeOf(requestId);
  const { finishedAt, refundThousandths } = fate?.state === 'kept' ? fate.request : {};
  const isEnded = finishedAt !== undefined && (endedBy === undefined || finishedAt <= endedBy);
  return listEntriesOfRequest(ledger, {
    requestId,
    createdAt,
    ...(isEnded && { finishedAt, refundThousandths }),
  });
};

/** Whether a request is judged by a verification that reads on from this mark. */
export const isJudgedAfter = ({ requests }: LedgerTally, requestId: string, mark: LedgerMark): boolean => {
  const first = requests.get(requestId)?.firstNumber;
  return first === undefined ? creationTimeOf(requestId) > mark.entryAt : first > mark.entryNumber;
};

/** The problems of a request, by its tally and its fate. */
export const judge = (
  { accountId, requests }: LedgerTally,
  requestId: string,
  fates: ReadonlyMap<string, RequestFate>,
  judgedAt: Instant,
): LedgerProblem[] => {
  const fate = fates.get(requestId) ?? { state: 'absent' };
  return requestProblems(accountId, requestId, requests.get(requestId), fate, judgedAt);
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
