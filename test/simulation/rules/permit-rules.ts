import { findRouteLimit } from '../../../core/admission/route-limits.ts';
import { routeNameOf } from '../../../core/provider-names.ts';
import { ROUTE_LIMIT_SORT, routeLimitKey } from '../../../core/table/keys.ts';
import type { Item } from '../../unit/fakes/expressions.ts';
import { isOpenCall, isTerminal } from '../evidence/witness.ts';
import { Part } from '../world/part.ts';
import type { World } from '../world/world.ts';
import { permitsOf, routeIn } from './admission-rules.ts';

/** How long after its request's end a permit may be kept: its return is tried for 5 s, on a machine that may be slow. */
const KEPT_MS = 20_000;

/** The end of a request, and the partitions of the routes that limited their calls then. */
interface End {
  requestId: string;
  endedAt: number;
  limited: ReadonlySet<string>;
}

/** The partition of the limit of an attempt's route. */
const routeOfAttempt = (attempt: Item): unknown => {
  const { provider, upstreamModel } = attempt as Item & { provider: string; upstreamModel: string };
  return routeLimitKey(routeNameOf({ provider, upstreamModel })).PK;
};

/**
 * Checks the permits of requests. No request loses its permit while its provider works on it. No ended request keeps
 * its permit. After a fault since its acceptance the control loop repeats the release, within what the table of lateness says.
 */
export class Permits extends Part {
  constructor(world: World) {
    super(world);
    world.table.witnesses.push((_key, before, after) => {
      if (before?.SK === ROUTE_LIMIT_SORT) this.seeRouteLimit(before, after);
      const isEnd = after?.SK === 'REQUEST' && before && isTerminal(after) && !isTerminal(before);
      if (isEnd) this.seeEnd(String(after.requestId));
    });
  }

  private seeRouteLimit(before: Item, after: Item | undefined): void {
    const left = permitsOf(after);
    for (const requestId of permitsOf(before).keys()) {
      if (
        !left.has(requestId) &&
        this.isAtWork(requestId, String(before.PK)) &&
        !this.isDispatchedTwice(requestId)
      ) {
        this.report(`[taken away] the permit of ${requestId}, whose provider works on it`);
      }
    }
  }

  /** Of two runs at once, one gives back what both have, once its own call was turned away. */
  private isDispatchedTwice(requestId: string): boolean {
    return this.world.lambda.countAtWork('dispatch-request', requestId) > 1;
  }

  /** Whether a request has not ended, and the outcome of a call at the route is not known. */
  private isAtWork(requestId: string, route: string): boolean {
    const life = this.world.witness.lives.get(requestId);
    if (!life || life.removedAt !== undefined || isTerminal(life.last)) return false;
    return this.world
      .items('ATTEMPT#')
      .filter((attempt) => attempt.requestId === requestId && routeOfAttempt(attempt) === route)
      .some(isOpenCall);
  }

  private seeEnd(requestId: string): void {
    const { now } = this.world.scheduler;
    const limited = new Set(this.limits().map(({ PK }) => String(PK)));
    this.checkIn(KEPT_MS, { requestId, endedAt: now, limited });
  }

  /** The state of each route that limits its calls. */
  private limits(): Item[] {
    return this.world.items(ROUTE_LIMIT_SORT).filter((limit) => findRouteLimit(routeIn(limit))?.permits);
  }

  private checkIn(milliseconds: number, end: End): void {
    const { requestId, endedAt, limited } = end;
    const { lateness, scheduler, witness } = this.world;
    scheduler.after(milliseconds, () => {
      // A permit of a time with a limit stays while a deployment has none. Once the route has a limit again and requests queue, it goes.
      const limits = this.limits().filter(({ PK }) => limited.has(String(PK)));
      if (!limits.some((limit) => permitsOf(limit).has(requestId))) return;
      // The process that took it may have died before recording it, and the request went another way.
      const acceptedAt = witness.lives.get(requestId)?.acceptedAt ?? endedAt;
      const leftMs = endedAt + KEPT_MS + lateness.excusedMs(acceptedAt, scheduler.now) - scheduler.now;
      if (leftMs > 0) this.checkIn(leftMs + 1, end);
      else this.report(`[kept] ${requestId} ended ${scheduler.now - endedAt} ms ago and has a permit`);
    });
  }
}
