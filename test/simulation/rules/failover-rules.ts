import { routeNameOf } from '../../../core/provider-names.ts';
import type { Assignment } from '../../../core/requests/request-rules.ts';
import { TRIAL_SECONDS } from '../../../core/route-pauses/pause-rules.ts';
import {
  PROVIDER_ATTEMPT_PREFIX,
  ROUTE_STATE_SORT,
  requestKey,
  routeStateKey,
} from '../../../core/table/keys.ts';
import type { Item } from '../../unit/fakes/expressions.ts';
import type { CreationCall } from '../evidence/evidence.ts';
import { CLOCKS_APART_MS } from '../world/clocks.ts';
import { Part } from '../world/part.ts';
import type { World } from '../world/world.ts';

/** From the read of a route's state to the claim of a call: a read is a second old at most, a function may be slow. */
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
 * decision. Every call is made under the assignment that its request has then. One request at a time tries a paused route, once the pause is
 * over. No other request is called there for the first time.
 */
export class Failover extends Part {
  /** The trials of each route that no first call of a request has used. */
  private readonly trials = new Map<string, number>();

  constructor(world: World) {
    super(world);
    world.onSend = (call) => this.judgeCall(call);
    world.table.witnesses.push((_key, before, after) => {
      if (before?.SK === ROUTE_STATE_SORT && after) this.judgeTrial(before, after);
      const isClaim = !before && String(after?.SK).startsWith(PROVIDER_ATTEMPT_PREFIX);
      if (isClaim && after) this.judgeClaim(after);
    });
  }

  private judgeCall(call: CreationCall): void {
    const elsewhere = this.world.evidence
      .callsOf(call.requestId)
      .filter(({ account }) => account !== call.account);
    const what = `${call.requestId} is called with ${call.account} after`;
    if (elsewhere.some(mayBeTaken)) this.report(`[moved] ${what} a call that may have been taken`);
    if (elsewhere.some(isContent)) this.report(`[content moved] ${what} a content decision`);
  }

  /** A trial moves the end of a pause on, and nothing else. */
  private judgeTrial(before: Item, after: Item): void {
    const { now } = this.world.scheduler;
    const untilOf = ({ pausedUntil }: Item): number => Date.parse(String(pausedUntil));
    const isTrial =
      before.pausedAt !== undefined &&
      after.pauseSeconds === before.pauseSeconds &&
      after.pausedUntil !== before.pausedUntil &&
      untilOf(after) - now > (TRIAL_SECONDS - 1) * 1000 - CLOCKS_APART_MS;
    // The longest pause, or one of a minute, follows another as long.
    const isPauseAgain =
      Math.abs(untilOf(after) - now - Number(after.pauseSeconds) * 1000) <= CLOCKS_APART_MS;
    const isLikeTrial = Number(after.pauseSeconds) === TRIAL_SECONDS;
    if (!isTrial || (isPauseAgain && !isLikeTrial)) return;
    this.trials.set(String(after.PK), (this.trials.get(String(after.PK)) ?? 0) + 1);
    if (!isPauseAgain && now < untilOf(before) - CLOCKS_APART_MS)
      this.report(`[two trials] ${after.PK} is tried ${untilOf(before) - now} ms too early`);
  }

  private judgeClaim(attempt: Item): void {
    const { evidence, lateness, scheduler, table } = this.world;
    const requestId = String(attempt.requestId);
    const route = routeNameOf(attempt as Item & { provider: string; upstreamModel: string });
    const assignment = table.get({ ...requestKey(requestId) })?.assignment as Assignment | undefined;
    if (assignment?.number !== attempt.assignment || assignment?.route !== route)
      this.report(`[assignment] ${requestId} is called at ${route}, and assigned to ${assignment?.route}`);
    const state = table.get({ ...routeStateKey(route) });
    if (state?.pausedAt === undefined) return;
    const pausedMs = Date.parse(String(state.pausedAt));
    const isFirst = evidence.claims.of(requestId) <= 1;
    const knownMs = KNOWN_MS + lateness.excusedMs(pausedMs, scheduler.now);
    if (!isFirst || scheduler.now < pausedMs + knownMs) return;
    const key = String(state.PK);
    const left = this.trials.get(key) ?? 0;
    if (left === 0) this.report(`[paused] ${requestId} is called at ${route}, which is paused`);
    else this.trials.set(key, left - 1);
  }
}
