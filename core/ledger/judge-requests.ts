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
 * The problems between the entries of a part and their requests, and those of requests created in the time of the part that have no debit.
 * A request of an earlier part that has only its refund in this one is judged in that of its debit.
 *
 * 1. List the requests created in the time of the part, by the account's index, and those that its entries refer to: the index may lack
 *    new ones, and lacks deleted ones.
 * 2. Read these requests, or the marks of their deletion, and the entries of other parts that they name.
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
    const hasOnlyRefund = own.length > 0 && own.every(({ number }) => number === request?.refundEntryNumber);
    if (hasOnlyRefund && createdFrom !== undefined && creationTimeOf(requestId) <= createdFrom) return [];
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
