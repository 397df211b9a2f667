import { type Clock, systemClock } from '../clock.ts';
import { finishDeletion } from '../deletion/finish-deletion.ts';
import { requiredNumberEnv } from '../environment.ts';
import type { Failure } from '../errors.ts';
import { countMetric, logger, METRIC } from '../observability.ts';
import { findProviderWait, type ProviderWait } from '../provider-calls/provider-waits.ts';
import type { ProviderRouteOf } from '../provider-calls/providers.ts';
import { findDeletedRequest } from '../requests/deleted-requests.ts';
import { listOpenWork, type OpenWork } from '../requests/open-work.ts';
import { isTerminal } from '../requests/request-rules.ts';
import { findRequest } from '../requests/requests.ts';
import { addSeconds, toInstant } from '../time.ts';
import { catchUp } from './catch-up.ts';
import { closeStoredRequest } from './close-stored-request.ts';
import { findWorkflowStatus, listRunningWorkflows, startExpiry, startWorkflow } from './executions.ts';
import { failStoredRequest } from './fail-request.ts';
import { settleRequest } from './settle-request.ts';

/** The failure of a request whose execution stopped without ending it. */
const LOST_EXECUTION: Failure = {
  code: 'internal_error',
  message: 'The work on this request was lost on our side.',
};

/** A creation starts its execution within this time. An older request without one never gets one. */
const GRACE_SECONDS = 30;
const CONCURRENT_REQUESTS = 8;
const QUERY_TIMEOUT_MS = 10_000;

/**
 * Repairs a request that may have lost its execution. A terminal request is closed. One whose execution never
 * started is started. One whose execution stopped is settled if its outputs are recorded, else failed and
 * refunded. A request with a running execution is left alone.
 */
export const reconcileRequest = async (requestId: string, clock: Clock = systemClock): Promise<void> => {
  const request = await findRequest(requestId);
  if (!request) return;
  if (isTerminal(request)) return closeStoredRequest(requestId);
  const status = await findWorkflowStatus(requestId);
  if (status === 'RUNNING' || status === 'PENDING_REDRIVE') return;
  logger.warn('a request without an execution', { requestId, status: status ?? 'NEVER_STARTED' });
  countMetric(METRIC.executionLost, { kind: request.kind });
  if (status === undefined) return startWorkflow(requestId);
  if (request.outputs) return settleRequest(requestId, clock);
  return failStoredRequest(requestId, LOST_EXECUTION, clock);
};

/** A failed expiry has retried for hours or cannot succeed, so its replacement waits. */
const FAILED_EXPIRY_SECONDS = 3600;

/**
 * Replaces a lost expiry execution that stopped with `executionStatus`. Does nothing when the request has
 * expired or is gone.
 */
export const reconcileExpiry = async (
  requestId: string,
  executionStatus: string,
  clock: Clock = systemClock,
): Promise<void> => {
  const request = await findRequest(requestId);
  if (request?.status !== 'succeeded' || request.expiredAt !== undefined || !request.expiresAt) return;
  const now = clock.now();
  const resumeAt = addSeconds(toInstant(now), executionStatus === 'FAILED' ? FAILED_EXPIRY_SECONDS : 0);
  const waitUntil = resumeAt > request.expiresAt ? resumeAt : request.expiresAt;
  await startExpiry(requestId, waitUntil, `-${now.getTime()}`);
};

/**
 * Repairs all open work older than the grace period until `keepGoing` returns false; oldest first within each
 * partition of the index. An error is logged and does not stop the rest: the next run tries again.
 */
export const reconcileAll = async (
  providerRouteOf: ProviderRouteOf,
  keepGoing: () => boolean,
  clock: Clock = systemClock,
): Promise<void> => {
  const running = await listRunningWorkflows();
  const queue = listOpenWork(addSeconds(toInstant(clock.now()), -GRACE_SECONDS));
  const worker = async (): Promise<void> => {
    while (keepGoing()) {
      const { value, done } = await queue.next();
      if (done) return;
      await reconcileWork(value, running, providerRouteOf, clock);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, worker));
};

const reconcileWork = async (
  work: OpenWork,
  running: ReadonlySet<string>,
  providerRouteOf: ProviderRouteOf,
  clock: Clock,
): Promise<void> => {
  const { requestId } = work;
  try {
    if (work.kind === 'deletion') await resumeDeletion(work);
    else if (running.has(requestId)) await catchUpWhenOverdue(requestId, providerRouteOf, clock);
    else await reconcileRequest(requestId, clock);
  } catch (error) {
    logger.error('a request could not be reconciled', { requestId, error: error as Error });
    countMetric(METRIC.reconcileFailed, {});
  }
};

const resumeDeletion = async ({ accountId, requestId }: OpenWork & { kind: 'deletion' }): Promise<void> => {
  const deleted = await findDeletedRequest(accountId, requestId);
  if (deleted) await finishDeletion(deleted);
};

/** Queries the provider for a waiting request whose callback may have been lost. */
const catchUpWhenOverdue = async (
  requestId: string,
  providerRouteOf: ProviderRouteOf,
  clock: Clock,
): Promise<void> => {
  const wait = await findProviderWait(requestId);
  if (!wait || !isOverdue(wait, clock.now())) return;
  const request = await findRequest(requestId);
  if (request?.status !== 'processing') return;
  await catchUp(request, wait, providerRouteOf, clock, QUERY_TIMEOUT_MS);
};

/** Whether the wait began, and the last query was made, at least `CALLBACK_WAIT_SECONDS` ago. */
const isOverdue = ({ waitingSince, queriedAt = '' }: ProviderWait, now: Date): boolean => {
  if (waitingSince === undefined) return false;
  const lastAt = waitingSince > queriedAt ? waitingSince : queriedAt;
  return lastAt <= addSeconds(toInstant(now), -requiredNumberEnv('CALLBACK_WAIT_SECONDS'));
};
