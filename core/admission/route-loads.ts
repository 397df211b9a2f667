import type { Instant } from '../time.ts';
import { eachQueueEntry } from './queue-entries.ts';
import { listQueues, readRouteLimits } from './route-limits.ts';

/** The load of a route. */
export interface RouteLoad {
  /** Calls and tasks under way; undefined without a limit of them. */
  running: number | undefined;
  waiting: number;
  /** The creation of the oldest waiting request; undefined without a waiting request. */
  oldestAt: Instant | undefined;
}

/** The load of every route at which requests may wait, by the route's name. */
export const listRouteLoads = async (): Promise<Map<string, RouteLoad>> => {
  const queues = listQueues();
  const states = await readRouteLimits(queues.map(({ limit }) => limit.name));
  const loads = await Promise.all(
    queues.map(async ({ limit }, index): Promise<[string, RouteLoad]> => {
      const waiting: Instant[] = [];
      for await (const { createdAt } of eachQueueEntry(limit.name)) waiting.push(createdAt);
      const running = limit.permits === undefined ? undefined : states[index]?.used;
      return [limit.name, { running, waiting: waiting.length, oldestAt: waiting.sort()[0] }];
    }),
  );
  return new Map(loads);
};
