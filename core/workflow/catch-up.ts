import { type Clock, systemClock } from '../clock.ts';
import { logger } from '../observability.ts';
import { listAttempts } from '../provider-calls/provider-attempts.ts';
import {
  claimQuery,
  findProviderWait,
  keepTaskToken,
  type ProviderWait,
  queriedWithin,
} from '../provider-calls/provider-waits.ts';
import { isTerminal, type StoredRequest } from '../requests/request-rules.ts';
import { findRequest } from '../requests/requests.ts';
import { keepExecutionWaiting, wakeExecution } from './executions.ts';
import { queryTasks } from './query-tasks.ts';
import {
  hasOpenTask,
  latestAttempts,
  type NextStep,
  type ProviderRoute,
  stepWhenFinished,
} from './workflow-rules.ts';

type ProviderRouteOf = (model: string) => Promise<ProviderRoute>;

/**
 * Asks the provider how far a request is and tells its execution: wakes it when every task is over, else
 * tells it that it need not ask for now. The execution applies what was found, whoever found it.
 * `answered` is false when the provider could not be asked.
 */
export const catchUp = async (
  request: StoredRequest,
  { taskToken }: ProviderWait,
  providerRouteOf: ProviderRouteOf,
  clock: Clock,
  timeoutMs: number,
): Promise<{ answered: boolean }> => {
  const { attempts, answered } = await queryTasks(request, providerRouteOf, clock, timeoutMs);
  if (attempts.length === 0 || attempts.some(({ outcome }) => outcome === undefined)) return { answered };
  if (!hasOpenTask(attempts)) await wakeWaiting(request.requestId, stepWhenFinished(attempts));
  else if (answered && taskToken !== undefined) await keepExecutionWaiting(taskToken);
  return { answered };
};

/**
 * Wakes whoever waits by now. An execution that began to wait during the look has seen the tasks open, and had
 * left its token before: so the token is read after the outcomes have been recorded.
 */
const wakeWaiting = async (requestId: string, step: NextStep): Promise<void> => {
  const wait = await findProviderWait(requestId);
  if (wait?.taskToken !== undefined) await wakeExecution(wait.taskToken, step);
};

/** A reader's question to the provider comes at most so often, however fast the caller polls. */
const READ_QUERY_SECONDS = 10;
/** A read waits for the provider no longer than this. */
const READ_TIMEOUT_MS = 4_000;

/**
 * What a read of an unfinished request sets off: asks the provider, unless it was asked within 10 s. What
 * goes wrong is logged and leaves the read as it is: the execution looks for itself.
 */
export const catchUpOnRead = async (
  request: StoredRequest,
  wait: ProviderWait | undefined,
  providerRouteOf: ProviderRouteOf,
  clock: Clock = systemClock,
): Promise<void> => {
  const now = clock.now();
  if (request.status !== 'processing' || queriedWithin(wait, READ_QUERY_SECONDS, now)) return;
  try {
    const claimed = await claimQuery(request.requestId, READ_QUERY_SECONDS, now);
    if (claimed) await catchUp(request, claimed, providerRouteOf, clock, READ_TIMEOUT_MS);
  } catch (error) {
    logger.error('a read could not catch up with the provider', { error: error as Error });
  }
};

/** How long the question takes that an early callback leads to. */
const AWAIT_TIMEOUT_MS = 15_000;

/**
 * What an execution does when it begins to wait under a token: keeps the token, then looks whether what it
 * waits for has happened before. So news that comes before the token is seen here, and news that comes after
 * finds it.
 */
export const awaitProvider = async (
  requestId: string,
  taskToken: string,
  providerRouteOf: ProviderRouteOf,
  clock: Clock = systemClock,
): Promise<void> => {
  const wait = await keepTaskToken(requestId, taskToken, clock.now());
  const [request, all] = await Promise.all([findRequest(requestId), listAttempts(requestId)]);
  if (!request || isTerminal(request)) {
    await wakeExecution(taskToken, { next: 'stop' });
    return;
  }
  const attempts = [...latestAttempts(all).values()];
  if (!hasOpenTask(attempts)) {
    await wakeExecution(taskToken, stepWhenFinished(attempts));
    return;
  }
  const { calledBackAt, queriedAt } = wait;
  const unheard = calledBackAt !== undefined && (queriedAt === undefined || queriedAt < calledBackAt);
  if (unheard) await catchUp(request, wait, providerRouteOf, clock, AWAIT_TIMEOUT_MS);
};
