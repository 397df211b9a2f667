import { creationTimeOf } from '../ids.ts';
import { listRequestIdsOfAccount } from '../requests/account-requests.ts';
import { entryNumbersOf } from '../requests/request-rules.ts';
import type { Instant } from '../time.ts';
import type { LedgerEntry } from './ledger.ts';
import { findLedgerEntries } from './ledger-entries.ts';
import { type LedgerProblem, mayBeSwept, requestProblems } from './ledger-rules.ts';
import { findAccountedRequests } from './request-fates.ts';

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
 * The problems between the entries of a part and their requests, and the problems of requests created in the part's time without
 * a debit. If the part holds only a request's refund, or was begun in the millisecond of the creation, the request is judged in the
 * part that holds its debit.
 *
 * 1. List the requests created in the part's time from the account's index, and the requests that the entries name: the index may
 *    lack new requests, and lacks deleted requests.
 * 2. Read the listed requests or their deletion marks, and the entries of other parts that the requests name.
 *
 * A request and its entries are written together, so a request that has changed since the part was read names its new entries.
 */
export const judgeRequests = async (
  { accountId, entries, after: createdFrom, until: createdUntil }: LedgerPart,
  judgedAt: Instant,
): Promise<LedgerProblem[]> => {
  const ofRequests = entries.filter(({ reason }) => reason === 'generation' || reason === 'refund');
  const entriesByRequest = Map.groupBy(ofRequests, ({ reference }) => reference);
  const listed: string[] = [];
  for await (const id of listRequestIdsOfAccount(accountId, { createdFrom, createdUntil })) listed.push(id);
  // Other requests past retention were judged before, and most are absent.
  const kept = [...entriesByRequest].filter(([, own]) => own.some((entry) => !mayBeSwept(entry, judgedAt)));
  const requests = await findAccountedRequests(accountId, [
    ...new Set([...listed, ...kept.map(([requestId]) => requestId)]),
  ]);
  const judged = [...new Set([...listed, ...entriesByRequest.keys()])].flatMap((requestId) => {
    const request = requests.get(requestId);
    const own = entriesByRequest.get(requestId) ?? [];
    const hasNoDebit = own.every(({ number }) => number === request?.refundEntryNumber);
    if (hasNoDebit && createdFrom !== undefined && creationTimeOf(requestId) <= createdFrom) return [];
    if (!request && own.length === 0) return [];
    const numbers = request ? entryNumbersOf(request) : [];
    const otherNumbers = numbers.filter((number) => own.every((entry) => entry.number !== number));
    return [{ accountId, requestId, request, own, otherNumbers }];
  });
  const numbers = new Set(judged.flatMap(({ otherNumbers }) => otherNumbers));
  const found = await findLedgerEntries(accountId, [...numbers]);
  const named = new Map(found.map((entry) => [entry.number, entry]));
  return judged.flatMap(({ own, otherNumbers, ...judgedRequest }) => {
    const theirs = otherNumbers
      .flatMap((number) => named.get(number) ?? [])
      .filter(({ reference }) => reference === judgedRequest.requestId);
    return requestProblems({ ...judgedRequest, entries: [...own, ...theirs] }, judgedAt);
  });
};
