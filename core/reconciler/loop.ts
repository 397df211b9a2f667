import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pace } from '../concurrency/pace.ts';
import { workflowSettings } from '../environment.ts';
import {
  beginRun,
  findReconcilerRun,
  isAlive,
  nameReconciler,
  renewRun,
} from '../executions/reconciler-run.ts';
import { countMetric, METRIC, measure, runOrLog } from '../observability.ts';
import { queryLimitsOf } from '../provider-calls/model-routes.ts';
import type { Provider, ProviderRouteOf } from '../provider-calls/providers.ts';
import type { ProviderId } from '../provider-names.ts';
import { type Clock, secondsSince, systemClock } from '../time.ts';
import type { During } from '../waiting/query-tasks.ts';
import { CHECK_AGAIN_SECONDS, type CheckResult, checkDue } from './check.ts';
import { DueWork, type Kept, listDueWork } from './due-work.ts';
import { admitAt, type QueuedAt, QueueReader } from './queues.ts';
import { startExpiryIfDue } from './start-expiry.ts';
import { TaskLister } from './task-lister.ts';

/** A run ends shortly before the schedule starts the next one. */
const RUN_MS = 59_000;
/** Longest pause between two ticks. */
const MAX_TICK_MS = 2_000;
/** Interval at which the `START` and `EXPIRE` lists and the queues of former routes are read. */
const SLOW_MS = 10_000;
/** Checks that read the table and make no call to a provider. */
const CHECKS_AT_ONCE = 40;
/** Ticks without open work before a run ends, if requests may have begun to wait for it. */
const IDLE_TICKS = 2;
/**
 * Longest wait for the calls under way at the end of a run: lists and removes files in a bucket that does not answer, each with three tries of 3 s, and
 * records the result. Shorter than the function's time limit.
 */
const SETTLE_MS = 40_000;

/** Options of a run. */
export interface RunOptions {
  providerRouteOf: ProviderRouteOf;
  /** The interval of the schedule. Below 60 s, a run goes on when nothing is open, and checks for work this often. */
  everySeconds: number;
  /** The function that runs this, for `startReconcilerIfDead`. */
  functionName: string;
  clock?: Clock;
  pause?: (milliseconds: number) => Promise<unknown>;
  runMs?: number;
}

/**
 * The control loop: runs for up to 59 s, and ends early when nothing falls due before the end of the run. Each tick:
 *
 * 1. Renew the run. If a newer run has taken over, end.
 * 2. Read the due lists and the route limits.
 * 3. Check due items; query unfinished tasks, or look many up in their provider's list, each account at its own pace.
 * 4. Admit queued requests.
 *
 * At the end, every open item is listed for its next check. An error of an item or route is logged and does not stop the loop.
 */
export const runReconciler = (options: RunOptions): Promise<void> => new Run(options).toEnd();

/** The run ended before a call's turn came. */
const RUN_HAS_ENDED = new Error('The run of the reconciler has ended.');

class Run {
  private readonly options: Required<RunOptions>;
  private readonly runId = randomUUID();
  /** No call begins from then on. */
  private endMs: number;
  private readonly work = new DueWork();
  private readonly checks: Pace;
  private readonly paces = new Map<string, Pace>();
  /** The listers, by provider account and address. */
  private readonly listers = new Map<string, TaskLister>();
  private readonly underWay = new Set<Promise<unknown>>();
  private readonly routesAtWork = new Set<string>();
  private readonly queues = new QueueReader();
  private slowAtMs = 0;
  private tick = 0;
  /** Whether this run is the one at work, by the table. */
  private isAtWork = false;
  /** Whether an older run may still query, until its next tick. */
  private mayOverlap = false;
  /** The earliest time of another start of the expiry, in epoch milliseconds: at most one in each interval between two runs. */
  private expiryFromMs = 0;
  /** Remaining ticks without open work before the run ends. */
  private idleTicksLeft = 0;

  constructor(options: RunOptions) {
    this.options = { clock: systemClock, pause: sleep, runMs: RUN_MS, ...options };
    this.endMs = this.nowMs() + this.options.runMs;
    this.checks = new Pace(CHECKS_AT_ONCE, 0, () => this.nowMs());
  }

  private nowMs(): number {
    return this.options.clock.now().getTime();
  }

  /** Whether a call may still begin. */
  private readonly keepGoing = (): boolean => this.nowMs() < this.endMs;

  async toEnd(): Promise<void> {
    await this.guarded({}, () => this.readFormerRun());
    let pauseMs: number | undefined = 0;
    for (; pauseMs !== undefined && this.nowMs() + pauseMs < this.endMs; this.tick++) {
      if (pauseMs > 0) await this.options.pause(pauseMs);
      const startedMs = this.nowMs();
      const intervalMs: number | 'end' = await this.guarded({}, () => this.makeTick(), this.tickMs());
      pauseMs = intervalMs === 'end' ? undefined : Math.max(0, startedMs + intervalMs - this.nowMs());
    }
    const end = pauseMs === undefined ? 'without-work' : 'minute-over';
    if (pauseMs === undefined) this.endMs = this.nowMs();
    // The last tick's queries go on until then.
    else await this.options.pause(Math.max(0, this.endMs - this.nowMs()));
    await this.leaveToNext(end);
    if (this.underWay.size === 0) return;
    await Promise.race([Promise.all(this.underWay), this.options.pause(SETTLE_MS)]);
    await this.leaveToNext(end);
  }

  /** Leaves open work to the next run, unless that has taken over. */
  private async leaveToNext(end: 'without-work' | 'minute-over'): Promise<void> {
    const { clock } = this.options;
    await this.guarded({}, async () => {
      const isMine = this.isAtWork && (await renewRun(this.runId, clock.now(), end));
      if (isMine) await this.work.writeBack();
    });
  }

  private tickMs(): number {
    return Math.min(MAX_TICK_MS, workflowSettings().pollIntervalSeconds * 1000);
  }

  /** Returns how long after its start the next tick begins, in milliseconds, or that the run ends. */
  private async makeTick(): Promise<number | 'end'> {
    const { clock, everySeconds, functionName } = this.options;
    const idleMs = everySeconds * 1000 < RUN_MS ? everySeconds * 1000 : 'end';
    if (this.isAtWork && !(await renewRun(this.runId, clock.now()))) return 'end';
    const queued = await this.readOpenWork();
    if (queued.length === 0 && this.work.size === 0) {
      // Requests that began to wait during this run may not be in the index yet: the next ticks find them.
      if (!this.isAtWork) return this.idleTicksLeft-- > 0 ? this.tickMs() : idleMs;
      await renewRun(this.runId, clock.now(), 'without-work');
      this.isAtWork = false;
      this.idleTicksLeft = IDLE_TICKS;
      return this.tickMs();
    }
    // The first tick takes over from an older run; a later one leaves the work to a newer run.
    this.isAtWork ||= await beginRun(this.runId, functionName, clock.now(), { ifDead: this.tick > 0 });
    if (!this.isAtWork) {
      this.work.clear();
      return idleMs;
    }
    // Half a tick early or late, not up to a whole one late.
    const due = this.mayOverlap && this.tick === 0 ? [] : this.work.dueBy(this.nowMs() + this.tickMs() / 2);
    for (const kept of due) if (!this.listerOf(kept)?.isAtWork) this.track(this.check(kept));
    for (const at of queued) if (!this.routesAtWork.has(at.name)) this.track(this.admit(at));
    return this.tickMs();
  }

  /** Reads whether a run was alive or is awaited, and names the function for requests that begin to wait. */
  private async readFormerRun(): Promise<void> {
    const { functionName } = this.options;
    const former = await findReconcilerRun();
    const isAwaited = isAlive(former, this.options.clock.now());
    this.mayOverlap = isAwaited && former?.isOver !== true;
    if (isAwaited) this.idleTicksLeft = IDLE_TICKS;
    if (former?.functionName !== functionName) await nameReconciler(functionName);
  }

  private async startExpiry(): Promise<void> {
    const { clock, everySeconds } = this.options;
    if (await startExpiryIfDue(everySeconds, clock)) this.expiryFromMs = this.nowMs() + everySeconds * 1000;
  }

  /** Keeps the due work of this run and returns the routes that requests queue at. */
  private async readOpenWork(): Promise<QueuedAt[]> {
    const now = this.options.clock.now();
    const isSlow = now.getTime() >= this.slowAtMs;
    if (isSlow) this.slowAtMs = now.getTime() + SLOW_MS;
    if (isSlow && now.getTime() >= this.expiryFromMs) this.track(this.startExpiry());
    const [checks, starts, queued] = await Promise.all([
      listDueWork('CHECK', new Date(this.endMs)),
      isSlow ? listDueWork('START', now) : { items: [] },
      this.queues.read(now, isSlow),
    ]);
    const due = [...starts.items, ...checks.items];
    if (checks.next.length === 0) this.work.keepListed(checks.items);
    if (this.tick === 0)
      measure(METRIC.checkOverdue, {}, secondsSince(due.map(({ dueKey }) => dueKey.GSI1SK).sort()[0], now));
    this.work.add(due);
    return queued;
  }

  private async admit(at: QueuedAt): Promise<void> {
    this.routesAtWork.add(at.name);
    const options = { clock: this.options.clock, tick: this.tick };
    await this.guarded<unknown>({ route: at.name }, () => admitAt(at, options));
    this.routesAtWork.delete(at.name);
  }

  /** Checks an item. With `isNamed`, a list has named all its tasks as unfinished. */
  private async check(kept: Kept, isNamed = false): Promise<boolean> {
    kept.isBeingChecked = true;
    const asBefore = { kind: 'open', nextMs: kept.nextMs } as const;
    const again = { kind: 'open', nextMs: this.nowMs() + CHECK_AGAIN_SECONDS * 1000 } as const;
    const checkInTime = (): Promise<CheckResult> =>
      this.checkNow(kept, isNamed).catch((error) =>
        error === RUN_HAS_ENDED ? asBefore : Promise.reject(error),
      );
    const result: CheckResult = await this.guarded(kept.due.work, checkInTime, again);
    kept.isBeingChecked = false;
    if (result.kind === 'open') Object.assign(kept, { nextMs: result.nextMs, rest: result.rest });
    else this.work.leave(kept);
    this.startListers();
    if (result.kind === 'moved' && Date.parse(result.due.dueKey.GSI1SK) < this.endMs)
      this.work.add([result.due]);
    return result.kind !== 'open' || result.isReported === true;
  }

  private async checkNow(kept: Kept, isNamed: boolean): Promise<CheckResult> {
    const { due, rest, nextMs } = kept;
    if (isNamed && rest?.listed) return rest.listed.found();
    const { clock, providerRouteOf } = this.options;
    const { keepGoing } = this;
    const at =
      (pace: Pace): During =>
      (call) =>
        pace.during(() => (keepGoing() ? call() : Promise.reject(RUN_HAS_ENDED)), nextMs);
    const result: CheckResult = rest
      ? { kind: 'provider', rest }
      : await at(this.checks)(() => checkDue(due, { clock, providerRouteOf, keepGoing }));
    if (result.kind !== 'provider') return result;
    const { listed } = result.rest;
    // Its tasks are looked up in the next list.
    if (!rest && listed && this.listerAt(listed.provider).takes(listed.taskIds))
      return { kind: 'open', nextMs: this.nowMs(), rest: result.rest };
    return result.rest.act(at(this.paceOf(result.rest.id)));
  }

  private listerOf({ rest }: Kept): TaskLister | undefined {
    return rest?.listed && this.listerAt(rest.listed.provider);
  }

  private listerAt(provider: Provider): TaskLister {
    const key = `${provider.id} ${provider.baseUrl}`;
    const known = this.listers.get(key);
    if (known) return known;
    const { keepGoing } = this;
    const lister = new TaskLister(provider, {
      ...{ nowMs: () => this.nowMs(), keepGoing },
      pause: (milliseconds) =>
        this.options.pause(Math.min(milliseconds, Math.max(0, this.endMs - this.nowMs()))),
      kept: () => this.work.listedAt(provider),
      check: (kept, isNamed) => {
        const checked = this.check(kept, isNamed);
        this.track(checked);
        return checked;
      },
      during: (call) =>
        // Before single queries, of which a list spares many.
        this.paceOf(provider.id).during(() => (keepGoing() ? call() : Promise.reject(RUN_HAS_ENDED)), 0),
      perSecond: queryLimitsOf(provider.id).perSecond,
    });
    this.listers.set(key, lister);
    return lister;
  }

  /** Lets the listers work that have enough tasks. */
  private startListers(): void {
    for (const lister of this.listers.values()) {
      if (lister.isAtWork || !lister.hasEnough()) continue;
      const untilEnd = (): Promise<void> =>
        lister.work().catch((error) => (error === RUN_HAS_ENDED ? undefined : Promise.reject(error)));
      this.track(this.guarded({}, untilEnd));
    }
  }

  private paceOf(providerId: ProviderId): Pace {
    const { atOnce, perSecond } = queryLimitsOf(providerId);
    const pace = this.paces.get(providerId) ?? new Pace(atOnce, 1000 / perSecond, () => this.nowMs());
    this.paces.set(providerId, pace);
    return pace;
  }

  private track(work: Promise<unknown>): void {
    this.underWay.add(work);
    void work.finally(() => this.underWay.delete(work));
  }

  /** Logs an error, counts it for the alarm, and returns `otherwise`. */
  private guarded<T>(what: object, work: () => Promise<T>, otherwise?: T): Promise<T> {
    return runOrLog({ ...what, message: 'the reconciler failed at something' }, work, () => {
      countMetric(METRIC.reconcileFailed, {});
      return otherwise as T;
    });
  }
}
