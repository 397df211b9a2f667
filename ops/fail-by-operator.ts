import { inParallel } from '../core/concurrency/in-parallel.ts';
import { endRequest } from '../core/ending/end-request.ts';
import { failed } from '../core/ending/failed.ts';
import type { Failure } from '../core/errors.ts';
import {
  type DueItem,
  type DuePosition,
  END_OF_TIME,
  listDue,
  requestIdOf,
} from '../core/requests/due-items.ts';
import { isTerminal, type StoredRequest } from '../core/requests/request-rules.ts';
import { findRequests, getRequest } from '../core/requests/requests.ts';
import type { Recorder } from './verb.ts';

/** The error that the caller of such a request sees. */
export const ENDED_BY_OPERATOR: Failure = {
  code: 'internal_error',
  message: 'The operator ended this request.',
};

/** Whether an operator failed this request. */
export const isEndedByOperator = ({ error }: StoredRequest): boolean =>
  error?.message === ENDED_BY_OPERATOR.message;

/**
 * Fails an unfinished request for an operator, refunds it in full and starts its webhook. Returns the ended request;
 * its execution may have ended it first, with another outcome. Throws when the request is still unfinished.
 */
export const failByOperator = async (
  { requestId, accountId }: Pick<StoredRequest, 'requestId' | 'accountId'>,
  write: Recorder['write'],
  operatorNote?: string,
): Promise<StoredRequest> => {
  const extraWrites = write({ accountId, subject: requestId, detail: operatorNote });
  await endRequest(requestId, failed(ENDED_BY_OPERATOR), { operatorNote, extraWrites }).catch(
    async (cause: unknown) => {
      // The request may have ended and only the answer been lost; the reconciler does the rest.
      if (!isTerminal(await getRequest(requestId))) throw cause;
    },
  );
  return getRequest(requestId);
};

/** The lists that unfinished requests are in. A request that starts moves from the first to the second. */
const UNFINISHED: readonly DueItem['list'][] = ['START', 'CHECK'];
/** Items of each of the 4 partitions of a list that are read at once. */
const PER_PARTITION = 10;
/**
 * Requests failed at once. Requests of one account change the same balance, so a higher number only causes
 * transaction conflicts.
 */
const PARALLEL = 4;

/** The result of failing all requests. */
export interface FailedRequests {
  failed: number;
  /** Requests that could not be failed, each with the reason. */
  problems: { requestId: string; reason: Error }[];
}

/**
 * Fails every unfinished request as `failByOperator` does, page by page, and continues when a request cannot be
 * failed. Repeats the pass, to include requests accepted during the run, until only failures are left or `isTime`
 * returns false. Calls `said` with the number failed so far.
 */
export const failUnfinishedRequests = async (
  isTime: () => boolean,
  write: Recorder['write'],
  said: (failed: number) => void,
): Promise<FailedRequests> => {
  let failed = 0;
  for (;;) {
    const problems: FailedRequests['problems'] = [];
    const failedBefore = failed;
    for await (const { requests, unreadable } of unfinishedPages(isTime)) {
      for (const requestId of unreadable) {
        problems.push({ requestId, reason: new Error('Its record cannot be read.') });
      }
      await inParallel(requests, PARALLEL, async (request) => {
        if (!isTime()) return;
        try {
          if (isEndedByOperator(await failByOperator(request, write))) failed++;
        } catch (reason) {
          problems.push({ requestId: request.requestId, reason: reason as Error });
        }
      });
      said(failed);
    }
    if (failed === failedBefore || !isTime()) return { failed, problems };
  }
};

/** Unfinished requests, and the ids of those that cannot be read, page by page. */
const unfinishedPages = async function* (
  isTime: () => boolean,
): AsyncGenerator<{ requests: StoredRequest[]; unreadable: string[] }> {
  for (const list of UNFINISHED) {
    let position: DuePosition | undefined;
    do {
      const { items, next } = await listDue(list, END_OF_TIME, PER_PARTITION, position);
      const { requests, unreadable } = await findRequests([...new Set(items.flatMap(requestIdOf))]);
      yield { requests: requests.filter((request) => !isTerminal(request)), unreadable };
      position = next;
    } while (position.length > 0 && isTime());
  }
};
