import { isDeepStrictEqual } from 'node:util';
import { mayHavePermit } from '../admission/admission.ts';
import { resumeRemoval } from '../deletion/delete-end-user.ts';
import { resumeDeletion } from '../deletion/resume-deletion.ts';
import { toEndUserRemoval } from '../end-users/removals.ts';
import { abandonedTasks, cancelTasks, closeRequest } from '../ending/close-request.ts';
import { reconcileRequest } from '../ending/end-lost-request.ts';
import { removeFilesOfFailed } from '../ending/failed.ts';
import { requiredNumberEnv, type WorkflowSettings, workflowSettings } from '../environment.ts';
import { startFirstAttempt } from '../executions/invoke-later.ts';
import { firstCallAt, hasOpenTask, latestAttempts } from '../provider-calls/attempt-rules.ts';
import {
  findRequestAndAttempts,
  isOpenTask,
  originOf,
  type ProviderAttempt,
} from '../provider-calls/provider-attempts.ts';
import { findProviderWait, heldOffUntil } from '../provider-calls/provider-waits.ts';
import type { Provider, ProviderRouteOf } from '../provider-calls/providers.ts';
import type { ProviderId } from '../provider-names.ts';
import { toDeletedRequest } from '../requests/deleted-requests.ts';
import { type DueItem, reschedule } from '../requests/due-items.ts';
import { isTerminal, type StoredRequest } from '../requests/request-rules.ts';
import { dueListOf } from '../table/keys.ts';
import { addSeconds, type Clock, type Instant, later, toInstant } from '../time.ts';
import { wakeWhenFinished } from '../waiting/catch-up.ts';
import { type During, queryAttempts } from '../waiting/query-tasks.ts';
import { endOverdue, overdueAt } from './overdue.ts';

/** Options of a check of due work. */
export interface CheckOptions {
  providerRouteOf: ProviderRouteOf;
  keepGoing: () => boolean;
  clock: Clock;
}

/** The rest of a check: `act` goes at the pace of a provider, and makes each query `during` its turn. */
export interface ProviderQuery {
  id: ProviderId;
  act: (during: During) => Promise<CheckResult>;
  /** The unfinished tasks, where the provider lists such. */
  listed?: ListedTasks | undefined;
}

/** Unfinished tasks that their provider may list. `found` is the outcome when its list names all of them as unfinished. */
export interface ListedTasks {
  provider: Provider;
  taskIds: string[];
  found: () => Promise<CheckResult>;
}

/** The outcome of a check. */
export type CheckResult =
  /** Closed, or listed for later. */
  | { kind: 'done' }
  /** Still open: check again at `nextMs`, in epoch milliseconds; only do the rest, if there is one. `isReported`: a provider said so. */
  | { kind: 'open'; nextMs: number; rest?: ProviderQuery | undefined; isReported?: boolean }
  /** Listed under another due key: the index is behind. */
  | { kind: 'moved'; due: DueItem }
  /** Do the rest now. */
  | { kind: 'provider'; rest: ProviderQuery };

const DONE: CheckResult = { kind: 'done' };
/** An item that could not be settled is checked again after this long. */
export const CHECK_AGAIN_SECONDS = 45;
/** A call that is being made has its outcome soon. */
const SOON_SECONDS = 2;
const openFor = (seconds: number, clock: Clock): CheckResult => ({
  kind: 'open',
  nextMs: clock.now().getTime() + seconds * 1000,
});

/** Checks a due item once. */
export const checkDue = async (due: DueItem, options: CheckOptions): Promise<CheckResult> => {
  const { work, list } = due;
  if (work.kind === 'request') return checkRequest(due, work.requestId, options);
  const { clock, keepGoing, providerRouteOf } = options;
  // Removals take long. Rescheduled first, so that the next run continues if this one dies.
  const claimed = await reschedule(due, list, addSeconds(toInstant(clock.now()), CHECK_AGAIN_SECONDS));
  if (!claimed) return DONE;
  // The invocation was lost, or its function died.
  if (work.kind === 'webhook') await startFirstAttempt(work.eventId);
  else if (work.kind === 'removal') await resumeRemoval(toEndUserRemoval(claimed.item), keepGoing, clock);
  else await resumeDeletion(toDeletedRequest(claimed.item), providerRouteOf, clock);
  return DONE;
};

/** An unfinished request under check. `endsAt` is when it is overdue, as `overdueAt` has it. */
interface Checked {
  due: DueItem;
  requestId: string;
  endsAt: Instant | undefined;
  clock: Clock;
}

const checkRequest = async (due: DueItem, requestId: string, options: CheckOptions): Promise<CheckResult> => {
  const { clock, providerRouteOf } = options;
  const { request, attempts: all } = await findRequestAndAttempts(requestId);
  const listed = dueKeyOf(request);
  if (!request || !listed) return DONE;
  if (!isDeepStrictEqual(listed.dueKey, due.dueKey)) {
    return { kind: 'moved', due: { ...due, ...listed } };
  }
  if (isTerminal(request)) return closeEnded(request, options);
  const endsAt = overdueAt(request, all);
  const checked: Checked = { due, requestId, endsAt, clock };
  if (endsAt !== undefined && isOlder(endsAt, 0, clock) && request.unknownStatus === undefined) {
    const isEnded = await endOverdue(request, all, providerRouteOf, clock);
    return isEnded ? DONE : openFor(SOON_SECONDS, clock);
  }
  if (request.status === 'queued') return checkExecution(checked);
  // It was dispatched, so it had an execution.
  if (due.list === 'START') return checkLater(checked, request.createdAt);
  const attempts = latestAttempts(all);
  const open = attempts.find(isOpenTask);
  if (!open) return wakeFinished(checked, attempts);
  const wait = await findProviderWait(requestId);
  const { waitingSince = request.dispatchedAt ?? request.createdAt, queriedAt = '', notBefore } = wait ?? {};
  const isLost = isCheckDue(waitingSince, clock) && !(await reconcileRequest(requestId, clock));
  if (isLost) return openFor(CHECK_AGAIN_SECONDS, clock);
  if (attempts.some(({ outcome }) => outcome === undefined)) return openFor(SOON_SECONDS, clock);
  const { provider } = await providerRouteOf(request.model, originOf(open));
  if (provider.callsBack(request.kind)) {
    const lastNewsAt = later(waitingSince, queriedAt);
    if (!isOlder(lastNewsAt, requiredNumberEnv('CALLBACK_WAIT_SECONDS'), clock))
      return checkLater(checked, lastNewsAt);
  }
  const from = firstCallAt(all) ?? request.createdAt;
  return {
    kind: 'provider',
    rest: queriesOf({ ...checked, request, provider, attempts, from, notBefore }, options),
  };
};

/** The due list and time of a request; undefined for an unlisted request. */
const dueKeyOf = ({ GSI1PK, GSI1SK }: Partial<StoredRequest> = {}) => {
  const list = dueListOf(GSI1PK);
  if (GSI1PK === undefined || GSI1SK === undefined || list === undefined || list === 'EXPIRE')
    return undefined;
  return { list, dueKey: { GSI1PK, GSI1SK } };
};

/** Whether an instant is at least `seconds` ago. */
const isOlder = (instant: Instant, seconds: number, clock: Clock): boolean =>
  addSeconds(instant, seconds) <= toInstant(clock.now());

/** The first check of a run checks the execution of an open task when `CALLBACK_WAIT_SECONDS` have passed again since the run before. */
const isCheckDue = (since: Instant, clock: Clock): boolean => {
  const seconds = requiredNumberEnv('CALLBACK_WAIT_SECONDS');
  const elapsedSeconds = (clock.now().getTime() - Date.parse(since)) / 1000;
  return elapsedSeconds >= seconds && elapsedSeconds % seconds < SECONDS_BETWEEN_FIRST_CHECKS;
};
/** Runs are a minute apart, and the first check of one at a task is up to 15 s late: at its next query. */
const SECONDS_BETWEEN_FIRST_CHECKS = 90;

/** Closes an ended request, whose tasks are cancelled at the provider's pace. */
const closeEnded = async (
  request: StoredRequest,
  { clock, providerRouteOf }: CheckOptions,
): Promise<CheckResult> => {
  const close = async (tasks?: (ended: StoredRequest) => Promise<boolean>): Promise<CheckResult> => {
    const settling = { clock, ...(tasks && { tasks }) };
    const isClosed = await closeRequest(request.requestId, removeFilesOfFailed, settling);
    // Others wait for the permit that it may hold.
    const againSeconds = mayHavePermit(request) ? SOON_SECONDS : CHECK_AGAIN_SECONDS;
    return isClosed ? DONE : openFor(againSeconds, clock);
  };
  const [abandoned] = await abandonedTasks(request);
  if (!abandoned) return close();
  const cancel = (ended: StoredRequest): Promise<boolean> => cancelTasks(ended, providerRouteOf, clock);
  return {
    kind: 'provider',
    rest: { id: abandoned.provider as ProviderId, act: (during) => during(() => close(cancel)) },
  };
};

/** Starts or ends a request whose execution is lost; lists any other for later. */
const checkExecution = async (checked: Checked): Promise<CheckResult> => {
  const { requestId, clock } = checked;
  return (await reconcileRequest(requestId, clock))
    ? checkLater(checked, toInstant(clock.now()))
    : openFor(CHECK_AGAIN_SECONDS, clock);
};

/** Checks the execution of a request whose provider did not tell the state of a task, which is queried again soon. */
const checkUnanswered = async ({ requestId, clock }: Checked): Promise<CheckResult> => {
  await reconcileRequest(requestId, clock);
  return openFor(CHECK_AGAIN_SECONDS, clock);
};

/** Wakes the execution of a request whose calls are finished. If it does not wait, it is at work, or lost. */
const wakeFinished = async (checked: Checked, attempts: readonly ProviderAttempt[]): Promise<CheckResult> =>
  (await wakeWhenFinished(checked.requestId, attempts))
    ? checkLater(checked, toInstant(checked.clock.now()))
    : checkExecution(checked);

/**
 * Lists a request without work for now `CALLBACK_WAIT_SECONDS` after its creation or its last news, at the latest when the
 * request is overdue.
 */
const checkLater = async ({ due, endsAt }: Checked, newsAt: Instant): Promise<CheckResult> => {
  const wanted = addSeconds(newsAt, requiredNumberEnv('CALLBACK_WAIT_SECONDS'));
  await reschedule(due, 'CHECK', endsAt !== undefined && endsAt < wanted ? endsAt : wanted);
  return DONE;
};

/** A provider that takes longer for the status of a task counts as not answering. */
const QUERY_TIMEOUT_MS = 10_000;

/** An unfinished task that the run queries until it is finished. */
interface OpenTask extends Checked {
  request: StoredRequest;
  provider: Provider;
  /** The latest attempt of every call. */
  attempts: ProviderAttempt[];
  /** The start of the first call. */
  from: Instant;
  /** The end of the time without queries that the provider asked for. */
  notBefore: Instant | undefined;
}

/**
 * Queries an open task, and wakes its execution when all tasks of the request have finished. A provider that calls back is queried
 * again only after `CALLBACK_WAIT_SECONDS`, or after 45 s when the query had no answer.
 */
const queriesOf = (task: OpenTask, options: CheckOptions): ProviderQuery => {
  const { request, provider, endsAt } = task;
  const { clock, providerRouteOf } = options;
  const { kind } = request;
  const openAs = (
    left: OpenTask,
    isReported: boolean,
    settings: Pick<WorkflowSettings, 'pollIntervalSeconds'> = workflowSettings(),
  ): CheckResult => ({
    kind: 'open',
    nextMs: Math.min(
      nextQueryMs(left.from, left.notBefore, settings, clock.now()),
      endsAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(endsAt),
    ),
    rest: queriesOf(left, options),
    isReported,
  });
  const act = async (during: During): Promise<CheckResult> => {
    // It is overdue: the next check ends it.
    if (endsAt !== undefined && isOlder(endsAt, 0, clock)) return openFor(0, clock);
    if (heldOffUntil(task.notBefore, clock.now()) !== undefined) return openAs(task, false);
    const query = { request, providerRouteOf, clock, timeoutMs: QUERY_TIMEOUT_MS, during };
    const { attempts, notBefore, answered } = await queryAttempts(task.attempts, query);
    if (!hasOpenTask(attempts)) return wakeFinished(task, attempts);
    if (provider.callsBack(kind)) return answered ? checkExecution(task) : checkUnanswered(task);
    return openAs({ ...task, attempts, notBefore }, answered);
  };
  /** A list covers many tasks, so lists may come twice as often as the queries of a task. */
  const found = async (): Promise<CheckResult> => {
    if (provider.callsBack(kind)) return checkExecution(task);
    return openAs(task, true, { pollIntervalSeconds: workflowSettings().pollIntervalSeconds / 2 });
  };
  const taskIds = task.attempts.flatMap(({ outcome }) =>
    outcome?.kind === 'accepted' ? [outcome.taskId] : [],
  );
  return { id: provider.id, act, ...(provider.list && { listed: { provider, taskIds, found } }) };
};

/** Longest pause between two queries of a task. */
const MAX_PAUSE_SECONDS = 15;

/** A pause is this share of the task's age, so that a result is at most 5 % late once a task is older than 40 s. */
const PAUSE_SHARE = 1 / 20;

/**
 * The next query of an unfinished task, in epoch milliseconds: after a twentieth of its age, at least `pollIntervalSeconds` and
 * at most 15 s, and not before the provider's `Retry-After`.
 */
export const nextQueryMs = (
  firstCallAt: Instant,
  notBefore: Instant | undefined,
  { pollIntervalSeconds }: Pick<WorkflowSettings, 'pollIntervalSeconds'>,
  now: Date,
): number => {
  const ageSeconds = (now.getTime() - Date.parse(firstCallAt)) / 1000;
  const pauseSeconds = Math.max(pollIntervalSeconds, Math.min(MAX_PAUSE_SECONDS, ageSeconds * PAUSE_SHARE));
  const heldOff = heldOffUntil(notBefore, now);
  return Math.max(now.getTime() + pauseSeconds * 1000, heldOff === undefined ? 0 : Date.parse(heldOff));
};
