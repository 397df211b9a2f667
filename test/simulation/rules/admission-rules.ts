import { runningOf } from '../../../core/admission/route-limit-rules.ts';
import { findRouteLimit } from '../../../core/admission/route-limits.ts';
import { QUEUE_ENTRY_PREFIX, ROUTE_LIMIT_SORT, routeLimitPartition } from '../../../core/table/keys.ts';
import type { Item } from '../../unit/fakes/expressions.ts';
import { MARGIN_MS } from '../world/clocks.ts';
import { Part } from '../world/part.ts';
import { FAL_MODEL } from '../world/upstream/fal.ts';
import type { World } from '../world/world.ts';

const tightRoutes = (images: number, videos: number) =>
  ({
    'xSD4.5': { provider: 'modelark', upstreamModel: 'seedream', maxRunning: images },
    xSD5Pro: { provider: 'fal', upstreamModel: FAL_MODEL, maxRunning: images + 1 },
    'xZI1.0Pro': { provider: 'modelstudio', upstreamModel: 'z-image', requestsPerSecond: 1 },
    'xW3.0s': { provider: 'modelstudio', upstreamModel: 'wan', maxRunning: videos, requestsPerSecond: 2 },
  }) as const;
/** Routes as tight as a provider's: with room for one request at a time, or for those of several accounts. */
export const TIGHT_ROUTES = [tightRoutes(2, 1), tightRoutes(3, 2)] as const;

/** The longest call to the table, with all its attempts. */
const LATE_WRITE_MS = 22_000;
/**
 * The time of a decision, from its read of the route limit to its write: a choice is fair if it was fair at some
 * moment in between.
 */
const DECISION_MS = 10_000;
/** From the deployment that removes a route until a run of the control loop, a minute later at most, has woken all that queue at the route. */
const CLOSED_MS = 65_000 + MARGIN_MS;
const CHECK_MS = 30_000;

interface Permit {
  accountId: string;
  weight: number;
  takenMs: number;
}
interface Moment {
  at: number;
  permits: ReadonlyMap<string, Permit>;
}

const PERMIT_PREFIX = 'permit#';
export const permitsOf = (item: Item | undefined): Map<string, Permit> =>
  new Map(
    Object.entries(item ?? {}).flatMap(([name, value]) =>
      name.startsWith(PERMIT_PREFIX) ? [[name.slice(PERMIT_PREFIX.length), value as Permit] as const] : [],
    ),
  );
const hasNone = (permits: ReadonlyMap<string, Permit>, account: string): boolean =>
  [...permits.values()].every(({ accountId }) => accountId !== account);
/** The request that a waiting item is of, by its key. */
const requestIn = (key: string): string => key.slice(key.lastIndexOf('#') + 1);
/** The name of the route of a limit. */
export const routeIn = ({ PK }: Item): string => String(PK).slice(routeLimitPartition('').length);

/**
 * Checks the route limits. Permits are counted correctly and stay within the limit. No request overtakes a waiting one. The
 * next request is the oldest of the account with the fewest running. Without faults, no account is served before an
 * account with nothing running that was served longer ago. No request queues for long at a route that is not configured
 * any more.
 */
export class Admission extends Part {
  private readonly history = new Map<string, Moment[]>();
  private readonly waitingSince = new Map<string, number>();
  /** When an account got or gave back a permit of a route, by both: the times in the last decision, and the last before it. */
  private readonly servedAt = new Map<string, number[]>();
  private isArmed = false;

  constructor(world: World) {
    super(world);
    world.table.witnesses.push((_key, before, after) => {
      const item = after ?? before;
      if (item?.SK === ROUTE_LIMIT_SORT) this.seeRouteLimit(before, after ?? item);
      if (String(item?.SK).startsWith(QUEUE_ENTRY_PREFIX)) this.seeQueueEntry(before, after);
    });
  }

  /** Whether the reconciler finds anything to do at the queues. A permit that nobody waits for is left alone. */
  isOpen(): boolean {
    return this.routeLimits().some(({ queued }) => queued !== undefined);
  }

  /** What is left once nothing is under way any more. */
  restProblems(): string[] {
    const { now } = this.world.scheduler;
    return [...this.waitingSince]
      .filter(([key, since]) => since + CLOSED_MS < now && !this.isRunning(requestIn(key)))
      .map(([key]) => `[left waiting] ${key} is there, and no execution waits`);
  }

  private routeLimits(): Item[] {
    return this.world.items(ROUTE_LIMIT_SORT);
  }

  private isRunning(requestId: string): boolean {
    return this.world.stepFunctions.executionOf(requestId)?.status === 'RUNNING';
  }

  private seeQueueEntry(before: Item | undefined, after: Item | undefined): void {
    const { PK, SK } = (after ?? before) as Item;
    const key = `${PK}|${SK}`;
    if (!after) this.waitingSince.delete(key);
    else if (before?.tokenOrder !== after.tokenOrder) {
      this.waitingSince.set(key, this.world.scheduler.now);
      this.arm();
    }
  }

  private seeRouteLimit(before: Item | undefined, after: Item): void {
    const name = routeIn(after);
    const { evidence, scheduler } = this.world;
    const { now } = scheduler;
    const permits = permitsOf(after);
    const weight = [...permits.values()].reduce((sum, permit) => sum + permit.weight, 0);
    if (weight !== (after.used ?? 0)) this.report(`[count] ${name} counts ${after.used}, and gave ${weight}`);
    const limit = findRouteLimit(name)?.permits;
    const isMore = weight > Number(before?.used ?? 0);
    // A write that was under way when the limit changed comes by the former one.
    const isSettled = now - evidence.deployedAt > LATE_WRITE_MS;
    if (limit !== undefined && isMore && isSettled && weight > limit)
      this.report(`[overfull] ${name} gave ${weight} of ${limit}`);
    const known = permitsOf(before);
    for (const requestId of permits.keys()) {
      if (!known.has(requestId)) this.judgeTurn(name, requestId, before, permits.get(requestId) as Permit);
    }
    this.world.log(() => `  route ${name}: ${[...permits.keys()].join(', ') || 'empty'}`);
    const changed = [...permits, ...known].filter(([id]) => !(permits.has(id) && known.has(id)));
    for (const [id, { accountId }] of changed) {
      // Who is chosen and does not wait any more was not served.
      if (this.isRunning(id)) this.recordServed(`${name} ${accountId}`, now);
    }
    const moments = (this.history.get(name) ?? []).filter((_one, index, all) => {
      const next = all[index + 1];
      return next === undefined || next.at > now - DECISION_MS;
    });
    this.history.set(name, [...moments, { at: now, permits }]);
  }

  private recordServed(key: string, now: number): void {
    const times = [...(this.servedAt.get(key) ?? []), now];
    const before = times.findLastIndex((time) => time < now - DECISION_MS);
    this.servedAt.set(key, times.slice(Math.max(before, 0)));
  }

  /** A permit was given: to one who waited, if anybody did, and to the right one. */
  private judgeTurn(name: string, requestId: string, before: Item | undefined, { accountId }: Permit): void {
    const { now } = this.world.scheduler;
    const prefix = `${routeLimitPartition(name)}|${QUEUE_ENTRY_PREFIX}`;
    const waiting = [...this.waitingSince]
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, since]) => {
        const [account = '', createdAt = '', id = ''] = key.slice(prefix.length).split('#');
        return { account, createdAt, id, since };
      });
    const own = waiting.find(({ id }) => id === requestId);
    if (!own) {
      if (before?.queued !== undefined) this.report(`[passed] ${requestId} passed those who wait at ${name}`);
      return;
    }
    const long = waiting.filter(({ since, id }) => since < now - DECISION_MS && id !== requestId);
    const moments = [...(this.history.get(name) ?? []), { at: now, permits: permitsOf(before) }];
    const isOld = ({ account, createdAt }: { account: string; createdAt: string }): boolean =>
      account === accountId && createdAt < own.createdAt;
    if (moments.every(({ permits }) => long.some((one) => isOld(one) && !permits.has(one.id))))
      this.report(`[order] ${requestId} came before an older request of its account at ${name}`);
    const isUnfair = ({ permits }: Moment): boolean => {
      const running = runningOf({ permits: permits as Parameters<typeof runningOf>[0]['permits'] });
      const mine = running.get(accountId) ?? 0;
      return long.some(({ account, id }) => !permits.has(id) && (running.get(account) ?? 0) < mine);
    };
    if (moments.every(isUnfair))
      this.report(`[unfair] ${requestId} came before an account with fewer running at ${name}`);
    const timesOf = (of: string): number[] => this.servedAt.get(`${name} ${of}`) ?? [];
    // The loop reads when accounts were served before it decides: it may not know what came since.
    const ownServedAt = timesOf(accountId).findLast((time) => time < now - DECISION_MS) ?? 0;
    const isOvertaken = ({ account, since }: { account: string; since: number }): boolean =>
      account !== accountId &&
      // The process that returned a permit may have died before it admitted the next request.
      this.world.evidence.faultAt < since &&
      Math.max(since, timesOf(account).at(-1) ?? 0) + MARGIN_MS < ownServedAt &&
      moments.every(({ permits }) => hasNone(permits, account));
    const overtaken = long.find(isOvertaken);
    if (overtaken)
      this.report(
        `[overtaken] ${requestId} came before ${overtaken.id}, whose account was served longer ago, at ${name}`,
      );
  }

  private arm(): void {
    if (this.isArmed) return;
    this.isArmed = true;
    this.world.scheduler.after(CHECK_MS, () => {
      this.isArmed = false;
      this.check();
      if (this.waitingSince.size > 0) this.arm();
    });
  }

  private check(): void {
    for (const [key, since] of this.waitingSince) {
      const name = key.slice(routeLimitPartition('').length, key.indexOf('|'));
      const { deployedAt, leftSince } = this.world.evidence;
      if (!findRouteLimit(name)) this.checkClosed(key, name, Math.max(since, deployedAt));
      const leftAt = leftSince.get(name);
      // Calls already made stay at the route, like the calls that follow.
      if (leftAt !== undefined && this.world.evidence.callsOf(requestIn(key)).length === 0)
        this.checkClosed(key, name, Math.max(since, leftAt));
    }
  }

  /** Where no model leads any more, and where operators left the route, everybody is woken, to go where their route leads now. */
  private checkClosed(key: string, name: string, since: number): void {
    const { lateness, scheduler } = this.world;
    const forMs = scheduler.now - since;
    const mostMs = CLOSED_MS + lateness.excusedMs(since, scheduler.now, 'throttled functions');
    if (forMs > mostMs && this.isRunning(requestIn(key)))
      this.report(`[not drained] ${key} waits for ${forMs} ms, and nobody goes to ${name}`);
  }
}
