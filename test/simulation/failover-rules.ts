import { routeNameOf } from '../../core/provider-names.ts';
import { circuitKey, PROVIDER_ATTEMPT_PREFIX } from '../../core/table/keys.ts';
import type { Item } from '../unit/fakes/expressions.ts';
import { CLOCKS_APART_MS } from './clocks.ts';
import type { CreationCall } from './evidence.ts';
import { Part } from './part.ts';
import type { World } from './world.ts';

/** From the read of a circuit to the claim of a call: a read is a second old at most, a function may be slow. */
const KNOWN_MS = 60_000;

/** Whether its provider may have taken a call, as far as its caller can know. */
export const mayBeTaken = ({ made, end, status }: CreationCall): boolean =>
  made !== undefined || end === 'lost' || end === 'early' || end === 'open' || isUnread(status);
/** A success that names no task, or a failure of its server. */
const isUnread = (status = 0): boolean => (status < 300 ? status > 0 : status >= 500);
/** The providers refuse nothing but content in this way. */
const isContent = ({ status }: CreationCall): boolean => status === 400;

/**
 * Checks the way between routes. No request is called at another provider after a call that may have been taken, nor after a content
 * decision. One request at a time tries a route that is left out, once its time is over. No other request is called there for the first time.
 */
export class Failover extends Part {
  constructor(world: World) {
    super(world);
    world.onSend = (call) => this.judgeCall(call);
    world.table.witnesses.push((_key, before, after) => {
      if (before?.SK === circuitKey('').SK && after) this.judgeProbe(before, after);
      const isClaim = !before && String(after?.SK).startsWith(PROVIDER_ATTEMPT_PREFIX);
      if (isClaim && after) this.judgeClaim(after);
    });
  }

  private judgeCall(call: CreationCall): void {
    const elsewhere = this.world.evidence
      .callsOf(call.requestId)
      .filter(({ provider }) => provider !== call.provider);
    const what = `${call.requestId} is called at ${call.provider} after`;
    if (elsewhere.some(mayBeTaken)) this.report(`[moved] ${what} a call that may have been taken`);
    if (elsewhere.some(isContent)) this.report(`[content moved] ${what} a content decision`);
  }

  private judgeProbe(before: Item, after: Item): void {
    const { now } = this.world.scheduler;
    const isNew = after.probe !== undefined && after.probe !== before.probe;
    if (!isNew) return;
    const from = Date.parse(String(before.probe === undefined ? before.openUntil : before.probeUntil));
    if (now < from - CLOCKS_APART_MS)
      this.report(`[two probes] ${after.probe} tries ${after.PK} ${from - now} ms too early`);
  }

  private judgeClaim(attempt: Item): void {
    const { evidence, scheduler, table } = this.world;
    const { requestId, circuit: role } = attempt;
    const route = routeNameOf(attempt as Item & { provider: string; upstreamModel: string });
    const circuit = table.get({ ...circuitKey(route) });
    if (circuit?.openedAt === undefined) return;
    const openedMs = Date.parse(String(circuit.openedAt));
    const isUndisturbed = Math.max(evidence.faultAt, evidence.deployedAt) < openedMs;
    if (!isUndisturbed || scheduler.now < openedMs + KNOWN_MS) return;
    const isFirst = evidence.claims.of(String(requestId)) <= 1;
    if (role === 'probe' ? circuit.probe !== requestId : isFirst)
      this.report(`[left out] ${requestId} is called at ${route}, which is left out`);
  }
}
