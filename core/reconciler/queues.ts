import { isLimited } from '../admission/route-limit-rules.ts';
import { listQueuedRoutes, listQueues, type Queue, readRouteLimits } from '../admission/route-limits.ts';
import { currentModelSettings, leftRoutesIn } from '../models/model-settings.ts';
import { isPaused, type RouteState, UNPAUSED } from '../route-pauses/pause-rules.ts';
import { readRouteStates } from '../route-pauses/route-states.ts';
import type { Clock } from '../time.ts';
import {
  admitWaiting,
  drainQueue,
  isQueued,
  type QueuedState,
  REROUTED_AT_ONCE,
  rerouteWaiting,
} from './admit.ts';

/** A route that requests queue at, as read for one tick. */
export interface QueuedAt {
  name: string;
  /** Undefined for a route that is not configured any more. */
  queue: Queue | undefined;
  state: QueuedState;
  /** Whether an operator left the route by hand. */
  isLeft: boolean;
  /** The pauses of this route and of its queue's other routes, by name. */
  states: ReadonlyMap<string, RouteState>;
}

/** Reads the routes that requests queue at. Routes that are not configured any more are found by slow reads only. */
export class QueueReader {
  private formerRoutes: string[] = [];

  /** The routes with a queue, those that are configured first. */
  async read(now: Date, isSlow: boolean): Promise<QueuedAt[]> {
    const queues = listQueues();
    const configured = queues.map(({ limit }) => limit.name);
    if (isSlow) this.formerRoutes = (await listQueuedRoutes()).filter((name) => !configured.includes(name));
    const names = [...configured, ...this.formerRoutes];
    const limits = await readRouteLimits(names);
    const queued = names.flatMap((name, index) => {
      const state = limits[index];
      return isQueued(state) ? [{ name, queue: queues[index], state }] : [];
    });
    // Without queued requests, no request has to choose a route again.
    const routes = queued.flatMap(({ queue }) =>
      queue?.others.length ? [queue.limit.name, ...queue.others] : [],
    );
    const states = await readRouteStates([...new Set(routes)]);
    const left = queued.length > 0 ? leftRoutesIn(await currentModelSettings(now)) : {};
    return queued.map((at) => ({ ...at, states, isLeft: Object.hasOwn(left, at.name) }));
  }
}

/**
 * Admits queued requests of a route within its limit. Requests of a paused route choose again; those of a route that is left by hand or not
 * configured any more go to another route, or fail at once.
 */
export const admitAt = async (
  { name, queue, state, states, isLeft }: QueuedAt,
  options: { clock: Clock; tick: number },
): Promise<unknown> => {
  if (!queue) return drainQueue(name, state, options);
  if (isLeft) return drainQueue(name, state, { ...options, most: REROUTED_AT_ONCE });
  if (isPaused(states.get(name) ?? UNPAUSED)) return rerouteWaiting(queue, state, states, options);
  return isLimited(queue.limit)
    ? admitWaiting(queue.limit, state, options)
    : drainQueue(name, state, options);
};
