import { type Clock, systemClock } from '../clock.ts';
import { finishDeletion } from '../deletion/finish-deletion.ts';
import { requiredNumberEnv } from '../environment.ts';
import type { Failure } from '../errors.ts';
import { countMetric, logger, METRIC } from '../observability.ts';
import { findProviderWait, type ProviderWait } from '../provider-calls/provider-waits.ts';
import { findDeletedRequest } from '../requests/deleted-requests.ts';
import { listOpenWork, type OpenWork } from '../requests/open-work.ts';
import { isTerminal, type StoredRequest } from '../requests/request-rules.ts';
import { findRequest } from '../requests/requests.ts';
import { addSeconds, toInstant } from '../time.ts';
import { catchUp } from './catch-up.ts';
import { findWorkflowStatus, listRunningWorkflows, startExpiry, startWorkflow } from './executions.ts';
import { failStoredRequest, followUpWithFiles } from './fail-stored-request.ts';
import { settleRequest } from './settle-request.ts';
import type { ProviderRoute } from './workflow-rules.ts';

type ProviderRouteOf = (model: string) => Promise<ProviderRoute>;

/** The failure of a request whose execution ended without ending it. */
const LOST_EXECUTION: Failure = {
  code: 'internal_error',
  message: 'The work on this request was lost on our side.',
};

/** A creation starts its execution within this time; an older request without one has none coming. */
const GRACE_SECONDS = 30;
/** How many requests are looked after at once. */
const CONCURRENT_REQUESTS = 8;
const QUERY_TIMEOUT_MS = 10_000;

/**
 * The one path for a request that may have lost its execution. One that is terminal gets what follows its
 * end; one whose execution never started is started; one whose execution is over is settled, if its outputs
 * are stored, or failed and refunded. Harmless for any other.
 */
export const reconcileRequest = async (requestId: string, clock: Clock = systemClock): Promise<void> => {
  const request = await findRequest(requestId);
  if (!request) return;
  if (isTerminal(request)) return followUpWithFiles(requestId);
  const status = await findWorkflowStatus(requestId);
  if (status === 'RUNNING' || status === 'PENDING_REDRIVE') return;
  logger.warn('a request without an execution', { requestId, status: status ?? 'NEVER_STARTED' });
  countMetric(METRIC.executionLost, { kind: request.kind });
  if (status === undefined) return startWorkflow(requestId);
  if (request.outputs) return settleRequest(requestId, clock);
  return failStoredRequest(requestId, LOST_EXECUTION, clock);
};

/** An expiry that failed has tried for hours, or fails at once for good: it is left alone for a while. */
const FAILED_EXPIRY_SECONDS = 3600;

/** Starts the expiry of a request again whose execution was lost. Harmless when it is over, or gone. */
export const reconcileExpiry = async (
  requestId: string,
  lostAs: string,
  clock: Clock = systemClock,
): Promise<void> => {
  const request = await findRequest(requestId);
  if (request?.status !== 'succeeded' || request.expiredAt !== undefined || !request.expiresAt) return;
  const now = clock.now();
  const resumeAt = addSeconds(toInstant(now), lostAs === 'FAILED' ? FAILED_EXPIRY_SECONDS : 0);
  const waitUntil = resumeAt > request.expiresAt ? resumeAt : request.expiresAt;
  await startExpiry(requestId, waitUntil, `-${now.getTime()}`);
};

/**
 * Looks after all open work that is older than the grace, oldest first, until `keepGoing` says no. What goes
 * wrong with one request is logged and does not keep the others waiting: the next run tries again.
 */
export const reconcileAll = async (
  providerRouteOf: ProviderRouteOf,
  keepGoing: () => boolean,
  clock: Clock = systemClock,
): Promise<void> => {
  const running = await listRunningWorkflows();
  const work = listOpenWork(addSeconds(toInstant(clock.now()), -GRACE_SECONDS));
  const worker = async (): Promise<void> => {
    while (keepGoing()) {
      const { value, done } = await work.next();
      if (done) return;
      await reconcileOne(value, running, providerRouteOf, clock);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, worker));
};

const reconcileOne = async (
  work: OpenWork,
  running: ReadonlySet<string>,
  providerRouteOf: ProviderRouteOf,
  clock: Clock,
): Promise<void> => {
  const { requestId } = work;
  try {
    if (work.kind === 'deletion') await goOnDeleting(work);
    else if (running.has(requestId)) await catchUpWhenSilent(requestId, providerRouteOf, clock);
    else await reconcileRequest(requestId, clock);
  } catch (error) {
    logger.error('a request could not be reconciled', { requestId, error: error as Error });
    countMetric(METRIC.reconcileFailed, {});
  }
};

const goOnDeleting = async ({ accountId, requestId }: OpenWork & { kind: 'deletion' }): Promise<void> => {
  const deleted = await findDeletedRequest(accountId, requestId);
  if (deleted) await finishDeletion(deleted);
};

/** Asks the provider for a request that waits for a callback and has heard nothing for too long. */
const catchUpWhenSilent = async (
  requestId: string,
  providerRouteOf: ProviderRouteOf,
  clock: Clock,
): Promise<void> => {
  const wait = await findProviderWait(requestId);
  if (!wait || !isSilent(wait, clock.now())) return;
  const request = await findRequest(requestId);
  if (!request || !isWaiting(request)) return;
  await catchUp(request, wait, providerRouteOf, clock, QUERY_TIMEOUT_MS);
};

const isWaiting = ({ status }: StoredRequest): boolean => status === 'processing';

const isSilent = ({ waitingSince, queriedAt = '' }: ProviderWait, now: Date): boolean => {
  if (waitingSince === undefined) return false;
  const last = waitingSince > queriedAt ? waitingSince : queriedAt;
  return last <= addSeconds(toInstant(now), -requiredNumberEnv('CALLBACK_WAIT_SECONDS'));
};
