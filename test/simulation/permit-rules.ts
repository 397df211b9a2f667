import { routeNameOf } from '../../core/provider-names.ts';
import { GATE_SORT, gateKey } from '../../core/table/keys.ts';
import type { Item } from '../unit/fakes/expressions.ts';
import { permitsOf } from './admission-rules.ts';
import { Part } from './part.ts';
import { isOpenCall, isTerminal } from './witness.ts';
import type { World } from './world.ts';

/** How long after its request's end a permit may be kept: its return is tried for 5 s, on a machine that may be slow. */
const KEPT_MS = 20_000;

/** The partition of the gate of an attempt's route. */
const gateOfAttempt = (attempt: Item): unknown => {
  const { provider, upstreamModel } = attempt as Item & { provider: string; upstreamModel: string };
  return gateKey(routeNameOf({ provider, upstreamModel })).PK;
};

/**
 * Checks the permits of requests. No request loses its permit while its provider works on it. No ended request keeps
 * its permit, unless a fault occurred since the request was accepted: then the control loop repeats the release.
 */
export class Permits extends Part {
  constructor(world: World) {
    super(world);
    world.table.witnesses.push((_key, before, after) => {
      if (before?.SK === GATE_SORT) this.seeGate(before, after);
      const isEnd = after?.SK === 'REQUEST' && before && isTerminal(after) && !isTerminal(before);
      if (isEnd) this.seeEnd(String(after.requestId));
    });
  }

  private seeGate(before: Item, after: Item | undefined): void {
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

  /** Whether a request has not ended, and the outcome of a call at a gate's route is not known. */
  private isAtWork(requestId: string, gate: string): boolean {
    const life = this.world.witness.lives.get(requestId);
    if (!life || life.removedAt !== undefined || isTerminal(life.last)) return false;
    return this.world
      .items('ATTEMPT#')
      .filter((attempt) => attempt.requestId === requestId && gateOfAttempt(attempt) === gate)
      .some(isOpenCall);
  }

  private seeEnd(requestId: string): void {
    const { evidence, scheduler } = this.world;
    scheduler.after(KEPT_MS, () => {
      // The process that took it may have died before recording it, and the request went another way.
      const acceptedAt = this.world.witness.lives.get(requestId)?.acceptedAt ?? 0;
      if (Math.max(evidence.faultAt, evidence.deployedAt) >= acceptedAt) return;
      const gates = this.world.items(GATE_SORT);
      if (gates.some((gate) => permitsOf(gate).has(requestId)))
        this.report(`[kept] ${requestId} ended ${KEPT_MS} ms ago and has a permit`);
    });
  }
}
