import { type Clock, systemClock } from '../clock.ts';
import { finishDeletion } from '../deletion/finish-deletion.ts';
import { resumeRemoval } from '../deletion/resume-removal.ts';
import { toEndUserRemoval } from '../end-users/removals.ts';
import { requiredNumberEnv } from '../environment.ts';
import { countMetric, logger, METRIC } from '../observability.ts';
import { listAttempts, originOf, type ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import { findProviderWait, type ProviderWait } from '../provider-calls/provider-waits.ts';
import type { ProviderRouteOf } from '../provider-calls/providers.ts';
import { toDeletedRequest } from '../requests/deleted-requests.ts';
import { type DueItem, listDue, relist } from '../requests/due-items.ts';
import { isTerminal, type StoredRequest } from '../requests/request-rules.ts';
import { findRequest, toRequest } from '../requests/requests.ts';
import type { StoredItem } from '../table/table.ts';
import { addSeconds, type Instant, toInstant } from '../time.ts';
import { abandonedTasks, cancelTasks } from './cancel-tasks.ts';
import { catchUp, wakeWhenFinished } from './catch-up.ts';
import { closeStoredRequest } from './close-stored-request.ts';
import { QueryBudget } from './query-budget.ts';
import { reconcileRequest } from './reconcile.ts';
import { keepExecutionWaiting } from './task-tokens.ts';
import { latestAttempts } from './workflow-rules.ts';

const CONCURRENT_ITEMS = 8;
/** Most items of a partition: with 16 partitions, more than a run of a minute gets through. */
const ITEMS_PER_PARTITION = 1000;
const QUERY_TIMEOUT_MS = 10_000;
/** The `START` list is read again after this long: a provider that hangs makes a run take a minute. */
const START_AGAIN_MS = 10_000;
/** One look takes seconds. An item whose look failed or died is due again for the next run, a minute later. */
const LOOK_AGAIN_SECONDS = 45;

/** What a run works with. */
interface Run {
  providerRouteOf: ProviderRouteOf;
  keepGoing: () => boolean;
  clock: Clock;
  queries: QueryBudget;
  /** From when on the `START` list is read again, in epoch milliseconds. */
  startAgainAt: number;
}

/**
 * Looks at what is due, until `keepGoing` returns false: requests that may have no execution first, then all
 * other work, each by due time. Every 10 s it turns to the requests that have come to be due meanwhile and may
 * have no execution. What it does not reach stays first for the next run.
 *
 * 1. List the item for 45 s later, on the condition that it is where it was found. So one run has it, and
 *    an item that cannot be handled does not stay in front.
 * 2. Look at it. Queries of a provider have a budget of their own.
 * 3. List it for when it is next due, or take it off.
 *
 * An error is logged and does not stop the rest.
 */
export const reconcileDue = async (
  providerRouteOf: ProviderRouteOf,
  keepGoing: () => boolean,
  clock: Clock = systemClock,
): Promise<void> => {
  const run: Run = {
    providerRouteOf,
    keepGoing,
    clock,
    queries: new QueryBudget(keepGoing),
    startAgainAt: 0,
  };
  await lookAtAll(dueItems(run), run);
  while (await run.queries.settledOne()) await lookAtAll(startItems(run), run);
};

const dueItems = async function* (run: Run): AsyncGenerator<DueItem> {
  yield* startItems(run);
  for (const due of await listed('LOOK', run.clock.now())) {
    yield* startItems(run);
    yield due;
  }
};

/** What is due in the `START` list; nothing when it was just read. */
const startItems = async function* (run: Run): AsyncGenerator<DueItem> {
  const now = run.clock.now();
  if (now.getTime() < run.startAgainAt) return;
  run.startAgainAt = now.getTime() + START_AGAIN_MS;
  yield* await listed('START', now);
};

const listed = async (list: 'START' | 'LOOK', now: Date): Promise<DueItem[]> =>
  (await listDue(list, toInstant(now), ITEMS_PER_PARTITION)).items;

const lookAtAll = async (queue: AsyncGenerator<DueItem>, run: Run): Promise<void> => {
  const worker = async (): Promise<void> => {
    while (run.keepGoing()) {
      const { value: due, done } = await queue.next();
      if (done) return;
      await logged(due, () => (due.list === 'START' ? claimAndLook(due, run) : lookOrQuery(due, run)));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_ITEMS }, worker));
};

const logged = async ({ work }: DueItem, look: () => Promise<void>): Promise<void> => {
  try {
    await look();
  } catch (error) {
    logger.error('due work could not be handled', { ...work, error: error as Error });
    countMetric(METRIC.reconcileFailed, {});
  }
};

/** A claimed item: its new place, and what is stored. */
interface Claimed {
  due: DueItem;
  item: StoredItem;
}

/** Lists an item for later; undefined when another run has it. */
const claim = (due: DueItem, { clock }: Run): Promise<Claimed | undefined> =>
  relist(due, due.list, addSeconds(toInstant(clock.now()), LOOK_AGAIN_SECONDS));

const claimAndLook = async (due: DueItem, run: Run, look = lookAt): Promise<void> => {
  const claimed = await claim(due, run);
  if (claimed) await look(claimed, run);
};

const lookAt = async (claimed: Claimed, run: Run): Promise<void> => {
  const { due, item } = claimed;
  switch (due.work.kind) {
    case 'request':
      return lookAtRequest(claimed, run);
    case 'removal':
      return resumeRemoval(toEndUserRemoval(item), run.keepGoing, run.clock);
    case 'deletion':
      await finishDeletion(toDeletedRequest(item));
  }
};

const lookAtRequest = async ({ due, item }: Claimed, run: Run): Promise<void> => {
  const request = toRequest(item);
  const { requestId } = request;
  const now = toInstant(run.clock.now());
  if (isTerminal(request)) return closeStoredRequest(requestId, { clock: run.clock });
  // It was dispatched, so it had an execution.
  if (due.list === 'START' && request.status === 'processing') return lookLater(due, request.createdAt);
  let newsAt = now;
  if (request.status === 'processing') {
    const { attempts, wait } = await readProgress(requestId);
    if (attempts.some(isOpenTask)) {
      newsAt = lastNewsAt(wait) ?? now;
      if (wait?.taskToken && (await keepExecutionWaiting(wait.taskToken))) return lookLater(due, newsAt);
    } else if (await wakeWhenFinished(requestId, attempts)) return lookLater(due, now);
  }
  if (await reconcileRequest(requestId, run.clock)) await lookLater(due, newsAt);
};

/** Lists a request that needs nothing now for `CALLBACK_WAIT_SECONDS` after its creation or the last news of it. */
const lookLater = async (due: DueItem, newsAt: Instant): Promise<void> => {
  await relist(due, 'LOOK', addSeconds(newsAt, requiredNumberEnv('CALLBACK_WAIT_SECONDS')));
};

/**
 * Looks at an item of the `LOOK` list, or leaves it to the provider's queries. It is claimed only when its turn
 * comes, so that it keeps its place if the run ends first.
 */
const lookOrQuery = async (due: DueItem, run: Run): Promise<void> => {
  const providerId = await providerToQuery(due, run).catch(async (error: unknown) => {
    await claim(due, run);
    throw error;
  });
  if (providerId === undefined) return claimAndLook(due, run);
  run.queries.add(providerId, () => logged(due, () => claimAndLook(due, run, query)));
};

/**
 * The provider of a request with an open task that had no news for `CALLBACK_WAIT_SECONDS`, or whose task is to be cancelled
 * because the request has ended; else undefined.
 */
const providerToQuery = async ({ work }: DueItem, run: Run): Promise<string | undefined> => {
  if (work.kind !== 'request') return undefined;
  const request = await findRequest(work.requestId);
  if (request && isTerminal(request)) {
    const [abandoned] = await abandonedTasks(request);
    return abandoned && (abandoned.provider ?? 'unknown');
  }
  if (request?.status !== 'processing') return undefined;
  const { attempts, wait } = await readProgress(work.requestId);
  const newsAt = lastNewsAt(wait) ?? '';
  const silentSince = addSeconds(toInstant(run.clock.now()), -requiredNumberEnv('CALLBACK_WAIT_SECONDS'));
  const open = attempts.find(isOpenTask);
  if (!open || newsAt > silentSince) return undefined;
  return (await run.providerRouteOf(request.model, originOf(open))).provider.id;
};

/** Queries the provider of a request whose callback may have been lost, or cancels the tasks of one that has ended. */
const query = async ({ due, item }: Claimed, run: Run): Promise<void> => {
  const request = toRequest(item);
  if (isTerminal(request)) {
    const tasks = (ended: StoredRequest) => cancelTasks(ended, run.providerRouteOf, run.clock);
    return closeStoredRequest(request.requestId, { tasks });
  }
  const wait = (await findProviderWait(request.requestId)) ?? { requestId: request.requestId };
  const { attended } = await catchUp(request, wait, run.providerRouteOf, run.clock, QUERY_TIMEOUT_MS);
  if (!attended && !(await reconcileRequest(request.requestId, run.clock))) return;
  await lookLater(due, toInstant(run.clock.now()));
};

/** Whether the provider accepted a call as a task that is not known to have finished. */
const isOpenTask = ({ outcome }: ProviderAttempt): boolean => outcome?.kind === 'accepted';

/** How far the provider calls of a request are: the latest attempt of each, and how its execution waits. */
const readProgress = async (
  requestId: string,
): Promise<{ attempts: ProviderAttempt[]; wait: ProviderWait | undefined }> => {
  const [all, wait] = await Promise.all([listAttempts(requestId), findProviderWait(requestId)]);
  return { attempts: [...latestAttempts(all).values()], wait };
};

/** When the wait began or, if later, the provider was last queried. */
const lastNewsAt = ({ waitingSince, queriedAt }: Partial<ProviderWait> = {}): Instant | undefined =>
  [waitingSince, queriedAt]
    .filter((at) => at !== undefined)
    .sort()
    .at(-1);
