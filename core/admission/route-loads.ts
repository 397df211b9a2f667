import type { Instant } from '../time.ts';
import { listRouteGates, readGates } from './gates.ts';
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
  const gates = [...listRouteGates()];
  const states = await readGates(gates.map(([, { name }]) => name));
  const loads = await Promise.all(
    gates.map(async ([route, gate], index): Promise<[string, RouteLoad]> => {
      const waiters = await listAllWaiters(gate.name);
      const oldestAt = waiters.map(({ createdAt }) => createdAt).sort()[0];
      const running = gate.permits === undefined ? undefined : states[index]?.used;
      return [route, { running, waiting: waiters.length, oldestAt }];
    }),
  );
  return new Map(loads);
};
