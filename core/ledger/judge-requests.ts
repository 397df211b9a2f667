import { listRequestIdsOfAccount } from '../requests/account-requests.ts';
import { type AccountedRequest, entryNumbersOf } from '../requests/request-rules.ts';
import { addSeconds, type Instant } from '../time.ts';
import type { LedgerEntry } from './ledger.ts';
import { findLedgerEntries } from './ledger-entries.ts';
import {
  judgedRequest,
  type LedgerProblem,
  mayBeSwept,
  type RequestFate,
  requestProblems,
} from './ledger-rules.ts';
import { findRequestFates } from './request-fates.ts';

/** Requests read at once. */
const REQUESTS_AT_ONCE = 1_000;

/** A range of a ledger's entries, and the time in which their requests were created. */
export interface LedgerPart {
  accountId: string;
  entries: readonly LedgerEntry[];
  /** The instant of the entry before them; undefined for the first part. */
  after: Instant | undefined;
  /** The instant of the last of them, or of the verification if they are the newest. */
  until: Instant;
}

/**
 * The problems between the entries of a part and their requests. An entry is never dated before its change, so a request has no entry
 * in a part before that of its creation.
 *
 * 1. Judge the requests created in the time of the part, by the account's index, with all their entries.
 * 2. Judge the other requests with entries in the part: new ones, which the index may lack; deleted ones; those past retention; and
 *    those created in the time of an earlier part.
 *
 * It reads requests after the part's entries, and the entries of other parts that they name after that. A request and its entries are
 * written together, so a request that has changed since names its new entries.
 */
export const judgeRequests = async (part: LedgerPart, judgedAt: Instant): Promise<LedgerProblem[]> => {
  const { accountId, entries, after: createdFrom, until: createdUntil } = part;
  const ofRequests = entries.filter(({ reason }) => reason === 'generation' || reason === 'refund');
  const unjudged = Map.groupBy(ofRequests, ({ reference }) => reference);
  const problems: LedgerProblem[] = [];
  for await (const ids of inChunks(listRequestIdsOfAccount(accountId, { createdFrom, createdUntil }))) {
    const own = new Map(ids.map((id) => [id, unjudged.get(id) ?? []]));
    for (const id of ids) unjudged.delete(id);
    problems.push(...(await judge(part, own, await findRequestFates(accountId, ids), judgedAt)));
  }
  for await (const ids of inChunks(unjudged.keys())) {
    const own = new Map(ids.map((id) => [id, unjudged.get(id) ?? []]));
    // Requests past retention were judged before, and most are absent.
    const kept = ids.filter((id) => own.get(id)?.some((entry) => !mayBeSwept(entry, judgedAt)));
    problems.push(...(await judge(part, own, await findRequestFates(accountId, kept), judgedAt)));
  }
  return problems;
};

/** Judges requests by their entries in this part and those that they name elsewhere. */
const judge = async (
  part: LedgerPart,
  own: ReadonlyMap<string, readonly LedgerEntry[]>,
  fates: ReadonlyMap<string, RequestFate>,
  judgedAt: Instant,
): Promise<LedgerProblem[]> => {
  const { accountId } = part;
  const judged = [...own].flatMap(([requestId, entries]) => {
    const fate = fates.get(requestId) ?? ({ state: 'absent' } as const);
    const request = judgedRequest(fate, accountId);
    const numbers = request && entryNumbersOf(request);
    const isNamed = ({ number }: LedgerEntry): boolean => numbers?.includes(number) ?? false;
    // Judged in the part of its creation.
    if (request && numbers && !isOfPart(request, part) && entries.every(isNamed)) return [];
    const isComplete = request !== undefined && (numbers !== undefined || isWithin(request, part));
    const elsewhere = numbers?.filter((number) => entries.every((entry) => entry.number !== number)) ?? [];
    return [{ accountId, requestId, fate, entries, isComplete, elsewhere }];
  });
  const numbers = new Set(judged.flatMap(({ elsewhere }) => elsewhere));
  const named = new Map(
    (await findLedgerEntries(accountId, [...numbers])).map((entry) => [entry.number, entry]),
  );
  return judged.flatMap(({ elsewhere, ...request }) => {
    const found = elsewhere.flatMap((number) => named.get(number) ?? []);
    const theirs = found.filter(({ reference }) => reference === request.requestId);
    return requestProblems({ ...request, entries: [...request.entries, ...theirs] }, judgedAt);
  });
};

/** Whether a request was created in the time of a part, and not before: none has entries from before its creation. */
const isOfPart = ({ createdAt }: AccountedRequest, { after }: LedgerPart): boolean =>
  after === undefined || createdAt > after;

/** An entry is written within seconds of its change; clocks may differ by minutes. */
const WRITTEN_WITHIN_SECONDS = 300;

/** Whether all entries of a request must be in this part: only then is a request judged that does not name them. */
const isWithin = (request: AccountedRequest, part: LedgerPart): boolean => {
  const until = addSeconds(part.until, -WRITTEN_WITHIN_SECONDS);
  const { createdAt, finishedAt = createdAt } = request;
  return isOfPart(request, part) && finishedAt <= until;
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
