import { listModelRoutes } from '../../../core/provider-calls/model-routes.ts';
import { routeNameOf } from '../../../core/provider-names.ts';
import type { Assignment } from '../../../core/requests/request-rules.ts';
import { routeLimitKey, routeStateKey } from '../../../core/table/keys.ts';
import type { Item } from '../../unit/fakes/expressions.ts';
import { isOpenCall, isTerminal, type Life, outcomeOf } from '../evidence/witness.ts';
import type { Execution } from '../world/aws/execution.ts';
import { Part } from '../world/part.ts';
import type { World } from '../world/world.ts';
import { permitsOf } from './admission-rules.ts';
import { BOUND_MS } from './liveness-rules.ts';

/**
 * How long capacity may stay unused while a request waits for it: in undisturbed time of the control loop, and after each run that died
 * or was not started.
 */
const UNUSED_MS = { alive: 5_000, dead: 65_000 } as const;
/** How long functions take to start: one to give a permit back, one to admit the next request. */
const SLACK_MS = 2_000;
/** How long after its end a task is known to have finished, if its callback is lost. */
const SEEN_MS = BOUND_MS.waiting + 20_000;
/** A dispatch that takes longer than this has been admitted. */
const PASSING_MS = 2_000;
const LOOP = 'events/reconcile';

interface Route {
  name: string;
  limit: number;
}

/** Capacity that is free while requests wait for it. */
interface Free {
  since: number;
  /** For how long the loop had run by then, in milliseconds. */
  loopMs: number;
}

/**
 * Checks that capacity is used, from the calls running at the providers and not from the service's own counts. While
 * a route has room for every request that waits there, a request is admitted within 5 s of the control loop's running
 * time, and within 65 s of the loop's death.
 */
export class Capacity extends Part {
  /** The calls of each request that are not known to have finished, by their keys. */
  private readonly openCalls = new Map<string, Set<string>>();
  /** The route of a request's calls, while one of them is being made or may have been taken. */
  private readonly routeOfCalls = new Map<string, string>();
  private readonly bindingCalls = new Map<string, Set<string>>();
  /** The executions that wait, with the name of the route to which their model led when they began. */
  private readonly waiting = new Map<Execution, string | undefined>();
  /** The requests that wait to try a busy provider again, and whose last dispatch left an open task: their permits stay. */
  private readonly betweenTries = new Set<string>();
  private readonly free = new Map<string, Free>();
  /** The free capacity that was judged already. */
  private readonly judged = new Set<Free>();
  private isArmed = false;

  constructor(world: World) {
    super(world);
    world.table.witnesses.push((_key, _before, after) => {
      if (String(after?.SK).startsWith('ATTEMPT#')) this.seeAttempt(after as Item);
      if (after?.SK === 'REQUEST' && isTerminal(after)) this.reconsider();
    });
    world.stepFunctions.watchers.push((execution) => this.seeState(execution));
  }

  private seeAttempt(attempt: Item): void {
    const { requestId, SK, provider, upstreamModel } = attempt;
    const [id, call] = [String(requestId), String(SK)];
    keepCall(this.openCalls, id, call, isOpenCall(attempt));
    const binding = keepCall(this.bindingCalls, id, call, outcomeOf(attempt) !== 'busy');
    // A request that its provider was too busy for goes where its model leads next.
    if (binding.size === 0) this.routeOfCalls.delete(id);
    else this.routeOfCalls.set(id, `${provider}/${upstreamModel}`);
    this.reconsider();
  }

  private seeState(execution: Execution): void {
    if (execution.machine !== 'generation') return;
    this.seeTry(execution);
    const isWaiting = execution.state === 'Wait for capacity';
    // One that leaves has been admitted, and another is next.
    this.free.delete(this.assignedRouteOf(execution.name, this.waiting.get(execution)) ?? '');
    if (isWaiting) this.waiting.set(execution, this.nameOf(execution.name));
    else if (!this.waiting.delete(execution)) return;
    this.reconsider();
  }

  private seeTry({ name, state }: Execution): void {
    const isBetween = state === 'Wait for busy provider' && (this.openCalls.get(name)?.size ?? 0) > 0;
    if (isBetween) this.betweenTries.add(name);
    else this.betweenTries.delete(name);
  }

  /** Records the routes with room for waiting requests, after every event of this instant. */
  private reconsider(): void {
    if (this.waiting.size === 0 || this.isArmed) return;
    this.isArmed = true;
    this.world.scheduler.after(0, () => {
      this.isArmed = false;
      this.check();
    });
  }

  private check(): void {
    const { scheduler, lambda } = this.world;
    const waiting = this.waitersByRoute();
    for (const name of this.free.keys()) if (!waiting.has(name)) this.free.delete(name);
    for (const [name, { route, widest }] of waiting) {
      const freeFrom = this.freeFrom(route, widest);
      if (freeFrom === undefined) {
        this.free.delete(name);
        continue;
      }
      const known = this.free.get(name);
      if (known && known.since >= freeFrom) {
        this.judge(name, known);
        continue;
      }
      const since = Math.max(freeFrom, scheduler.now);
      this.free.set(name, { since, loopMs: lambda.busyMs(LOOP) });
      this.checkAgain(since + UNUSED_MS.alive + SLACK_MS);
    }
  }

  private checkAgain(at: number): void {
    const { scheduler } = this.world;
    scheduler.after(Math.max(1, at - scheduler.now), () => this.check());
  }

  private judge(name: string, known: Free): void {
    const { since, loopMs } = known;
    if (this.judged.has(known)) return;
    const { evidence, lambda, scheduler } = this.world;
    const unusedMs = scheduler.now - since;
    const aliveMs = lambda.busyMs(LOOP) - loopMs;
    // The next start comes a minute after one that was refused.
    const setbacks = lambda.setbacksOf(LOOP).filter((at) => at >= since);
    const deadFrom = Math.max(since, lambda.lastAtWork(LOOP), ...setbacks);
    const deadMs = scheduler.now - deadFrom;
    // The loop may be dead at first, and a run that did not die may meet a fault.
    const atWorstMs = UNUSED_MS.dead * (2 + setbacks.length);
    const isDisturbed = evidence.faultAt >= since - UNUSED_MS.dead;
    const isLate =
      deadMs > UNUSED_MS.dead + SLACK_MS ||
      (!isDisturbed && aliveMs > UNUSED_MS.alive + SLACK_MS) ||
      unusedMs > atWorstMs + SLACK_MS;
    if (isLate) {
      const problem = `[unused] ${name} has had room for a waiting request for ${unusedMs} ms, in ${aliveMs} of which the loop ran`;
      this.world.log(() => problem);
      this.report(problem);
      this.judged.add(known);
      return;
    }
    if (unusedMs >= UNUSED_MS.alive + SLACK_MS) this.checkAgain(scheduler.now + UNUSED_MS.alive);
  }

  /** The routes that requests wait for, with the most calls that one of these makes at once. */
  private waitersByRoute(): Map<string, { route: Route; widest: number }> {
    const queued = new Map<string, { route: Route; widest: number }>();
    for (const [execution, name] of this.waiting) {
      if (execution.status !== 'RUNNING') this.waiting.delete(execution);
      const last = this.world.witness.lives.get(execution.name)?.last;
      // An operator may have failed it. Its execution then waits for nothing.
      const isWaiting = execution.status === 'RUNNING' && last !== undefined && !isTerminal(last);
      const route = isWaiting && limitedRoute(this.assignedRouteOf(execution.name, name));
      // At a paused route, one request is admitted at a time.
      if (!route || this.isPaused(route.name)) continue;
      const widest = Math.max(queued.get(route.name)?.widest ?? 1, this.weightOf(execution.name, route));
      queued.set(route.name, { route, widest });
    }
    return queued;
  }

  /** From when on a route has room for so many calls, in epoch milliseconds; undefined while it has none. */
  private freeFrom(route: Route, calls: number): number | undefined {
    const { evidence, scheduler, table } = this.world;
    const used = this.world.witness
      .open()
      .filter((life) => this.isUsing(life, route))
      .reduce((sum, { requestId }) => sum + this.weightOf(requestId, route), 0);
    if (used + calls > route.limit) return undefined;
    // Its provider asked for a pause, or starts are spread over time.
    const pausedUntil = Number(table.get({ ...routeLimitKey(route.name) })?.nextStartMs ?? 0);
    const from = Math.max(pausedUntil, evidence.outageAt, evidence.deployedAt);
    return from > scheduler.now ? undefined : from;
  }

  /** Whether a request has calls under way at a route, or has been admitted to make some. */
  private isUsing({ requestId }: Life, route: Route): boolean {
    if (this.nameOf(requestId) !== route.name) return false;
    if ((this.openCalls.get(requestId)?.size ?? 0) > 0) return !this.isLongDone(requestId);
    if (this.betweenTries.has(requestId) || this.isKept(requestId, route)) return true;
    const { scheduler, stepFunctions } = this.world;
    const execution = stepFunctions.executionOf(requestId);
    const isDispatched = execution?.status === 'RUNNING' && execution.state === 'Dispatch request';
    return isDispatched && scheduler.now - execution.enteredAt > PASSING_MS;
  }

  /** Whether a process may have died before it released the permit of a request: the closing of the request releases it. */
  private isKept(requestId: string, { name }: Route): boolean {
    const { evidence, table, witness } = this.world;
    const acceptedAt = witness.lives.get(requestId)?.acceptedAt ?? 0;
    return evidence.faultAt > acceptedAt && permitsOf(table.get({ ...routeLimitKey(name) })).has(requestId);
  }

  /** Whether the provider finished everything long ago and reports it: calls that still count as open use no capacity. */
  private isLongDone(requestId: string): boolean {
    const { evidence, scheduler } = this.world;
    return evidence.callsOf(requestId).every(({ end, made }) => {
      if (!made) return end !== 'open' && end !== 'lost';
      const isReported =
        !made.forgotten && !evidence.untoldTasks.has(made.id) && !evidence.heldOff.has(made.id);
      return isReported && Math.max(made.doneAt, evidence.disturbedAt) + SEEN_MS < scheduler.now;
    });
  }

  /** How many calls a request makes at once at a route. It may have been elsewhere before, where it made fewer. */
  private weightOf(requestId: string, { name, limit }: Route): number {
    const { witness } = this.world;
    const life = witness.lives.get(requestId);
    const [provider] = name.split('/');
    return Math.min(limit, life ? witness.plannedCallsOf(life, provider) : 1);
  }

  /** The route of a request's calls; before the first call, the route of its model. */
  private nameOf(requestId: string): string | undefined {
    const model = String(this.world.witness.lives.get(requestId)?.accepted.model);
    const route = listModelRoutes()[model]?.[0];
    const named = this.routeOfCalls.get(requestId) ?? (route && routeNameOf(route));
    return (this.openCalls.get(requestId)?.size ?? 0) > 0 ? named : this.assignedRouteOf(requestId, named);
  }

  /** The route that a request is assigned to, when its model has several; else `named`. */
  private assignedRouteOf(requestId: string, named: string | undefined): string | undefined {
    const { accepted, last } = this.world.witness.lives.get(requestId) ?? {};
    const routes = listModelRoutes()[String(accepted?.model)] ?? [];
    if (routes.length < 2) return named;
    const { route } = (last?.assignment ?? {}) as Partial<Assignment>;
    return routes.map(routeNameOf).find((name) => name === route) ?? named;
  }

  private isPaused(name: string): boolean {
    return this.world.table.get({ ...routeStateKey(name) })?.pausedAt !== undefined;
  }
}

/** Keeps a call among those of its request, or drops it. Returns the calls of the request. */
const keepCall = (
  calls: Map<string, Set<string>>,
  requestId: string,
  call: string,
  isKept: boolean,
): Set<string> => {
  const known = calls.get(requestId) ?? new Set();
  calls.set(requestId, known);
  if (isKept) known.add(call);
  else known.delete(call);
  return known;
};

/** A route of the configuration that has a limit; undefined for any other. */
const limitedRoute = (name: string | undefined): Route | undefined => {
  const route = Object.values(listModelRoutes())
    .flat()
    .find((one) => routeNameOf(one) === name);
  if (!name || (route?.maxRunning == null && route?.requestsPerSecond == null)) return undefined;
  return { name, limit: route.maxRunning ?? Number.POSITIVE_INFINITY };
};
