import { listModelRoutes } from '../provider-calls/model-routes.ts';
import type { Instant } from '../time.ts';
import { gatesOf } from './gate-rules.ts';
import { readGate } from './gates.ts';
import { routeNameOf } from './route-gates.ts';
import { listAllWaiters } from './waiters.ts';

/** How full a route is. */
export interface RouteLoad {
  /** Calls and tasks under way; undefined without a limit of them. */
  running: number | undefined;
  waiting: number;
  /** When the oldest waiting request was created; undefined when none waits. */
  oldestAt: Instant | undefined;
}

/** The load of every route that has a limit, by the route's name. */
export const listRouteLoads = async (): Promise<Map<string, RouteLoad>> => {
  const routes = new Map(Object.values(listModelRoutes()).map((route) => [routeNameOf(route), route]));
  const loads = await Promise.all(
    [...routes].map(async ([name, route]): Promise<[string, RouteLoad][]> => {
      const gates = gatesOf(name, route);
      if (gates.length === 0) return [];
      const found = await Promise.all(
        gates.map(async (gate) => ({
          ...(await readGate(gate.name)),
          waiters: await listAllWaiters(gate.name),
        })),
      );
      const created = found.flatMap(({ waiters }) => waiters.map(({ createdAt }) => createdAt)).sort();
      const used = found.reduce((sum, { state }) => sum + state.used, 0);
      const running = route.maxRunning == null ? undefined : used;
      return [[name, { running, waiting: created.length, oldestAt: created[0] }]];
    }),
  );
  return new Map(loads.flat());
};
