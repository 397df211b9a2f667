import type { Context } from 'aws-lambda';
import { INVOCATION_FAULTS } from '../engine/faults.ts';
import { Invocation, invocations, outside } from '../engine/invocation.ts';
import { Part } from '../part.ts';
import { Processes } from './processes.ts';

/** The function of the control loop. */
export const RECONCILER = 'events/reconcile';

/** A function's entry point, as the service exports it. */
export type Handler = (event: unknown, context: Context) => Promise<unknown>;

export interface DeployedFunction {
  name: string;
  handler: Handler;
  timeoutSeconds: number;
}

/** The error that a caller of Lambda gets for a failed invocation. */
export class InvocationError extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

/** The error of an invocation for which there is no room. */
export const TOO_MANY = 'Lambda.TooManyRequestsException';
const REFUSAL_MS = [1, 50] as const;
/** How long a function takes to start when that takes long. */
const SLOW_START_MS = [500, 6_000] as const;
/** How long Lambda takes to notice that a process is gone. */
const DEATH_NOTICE_MS = [1, 2_000] as const;
/** After what times an event is delivered again. */
const LATER_MS = [50, 3_000, 45_000, 700_000, 4 * 3_600_000, 26 * 3_600_000];
/** After how long the connection breaks on which a function was to answer. */
const UNHEARD_MS = [5, 200, 2_000];
const LATE_EVENT_SHARE = 0.03;
/** How the names of calls begin that change nothing. */
const READS = /^(Get|BatchGet|Query|Scan|List|Head|Describe)/;
/** The functions of the service, each run of one with a life of its own. */
export class Lambda extends Part {
  /** Invocations started by a workflow or an event, in order: each can be delivered again. */
  readonly history: { fn: DeployedFunction; payload: unknown; isOver: boolean }[] = [];
  /** The share of events that reach their function seconds late, without an outage. */
  lateEventShare = LATE_EVENT_SHARE;
  /** Until when Lambda takes no run of a function, by its name, in epoch milliseconds. */
  readonly throttledUntil = new Map<string, number>();
  /** The processes that serve the runs. */
  readonly processes = new Processes(this.world);
  private readonly atWork = new Set<Invocation>();
  /** For how long each function had runs until its last one began or ended, and when that was. */
  private readonly busy = new Map<string, { ms: number; at: number }>();
  /** When two runs of each function were last at work at once, in epoch milliseconds. */
  private readonly twoAtWork = new Map<string, number>();
  /** When starts of each function were refused and runs of it died, in epoch milliseconds. */
  private readonly setbacks = new Map<string, number[]>();

  /** Invokes for a workflow or an event: at least once, as these do. Rejects with `InvocationError`. */
  async invoke(fn: DeployedFunction, payload: unknown): Promise<unknown> {
    const { faults, scheduler } = this.world;
    const record = { fn, payload, isOver: false };
    this.history.push(record);
    const fault = faults.meet(INVOCATION_FAULTS);
    if (fault) this.world.log(() => `  fault ${fault} at ${fn.name}`);
    await this.meetOutage();
    await this.meetThrottle(fn.name);
    if (fault === 'not-started') {
      this.noteSetback(fn.name);
      await scheduler.sleep(faults.random.whole(1, 50));
      throw new InvocationError(TOO_MANY, 'Rate exceeded');
    }
    if (fault === 'twice') this.redeliver(fn, payload, faults.random.whole(0, 20));
    if (fault === 'unheard') {
      outside(() => this.run(fn, payload)).catch(() => undefined);
      await scheduler.sleep(faults.random.pick(UNHEARD_MS));
      throw new InvocationError('Lambda.SdkClientException', 'The connection broke.');
    }
    if (fault === 'again-later') this.redeliver(fn, payload, faults.random.pick(LATER_MS));
    try {
      return await this.run(fn, payload);
    } finally {
      record.isOver = true;
    }
  }

  /** How many processes run this function for a request. */
  countAtWork(stem: string, requestId: string): number {
    return [...this.atWork].filter((one) => one.requestId === requestId && one.functionName.endsWith(stem))
      .length;
  }

  /** For how long at least one run of a function has been at work so far, in milliseconds. */
  busyMs(functionName: string): number {
    const { now } = this.world.scheduler;
    const { ms, at } = this.busy.get(functionName) ?? { ms: 0, at: now };
    return this.hasRun(functionName) ? ms + now - at : ms;
  }

  /** When a run of a function was last at work, in epoch milliseconds; 0 for never. */
  lastAtWork(functionName: string): number {
    return this.hasRun(functionName) ? this.world.scheduler.now : (this.busy.get(functionName)?.at ?? 0);
  }

  /** When starts of a function were refused and runs of it died, in epoch milliseconds, oldest first. */
  setbacksOf(functionName: string): readonly number[] {
    return this.setbacks.get(functionName) ?? [];
  }

  /** When two runs of a function were last at work at once, in epoch milliseconds; 0 for never. */
  twoAtWorkAt(functionName: string): number {
    return this.countRuns(functionName) > 1
      ? this.world.scheduler.now
      : (this.twoAtWork.get(functionName) ?? 0);
  }

  private noteSetback(functionName: string): void {
    this.setbacks.set(functionName, [...this.setbacksOf(functionName), this.world.scheduler.now]);
  }

  private hasRun(functionName: string): boolean {
    return this.countRuns(functionName) > 0;
  }

  private countRuns(functionName: string): number {
    return [...this.atWork].filter((one) => one.functionName === functionName).length;
  }

  /** A run begins, or has ended. */
  private setAtWork(invocation: Invocation, isAtWork: boolean): void {
    const { functionName } = invocation;
    if (this.atWork.has(invocation) === isAtWork) return;
    this.busy.set(functionName, { ms: this.busyMs(functionName), at: this.world.scheduler.now });
    this.twoAtWork.set(functionName, this.twoAtWorkAt(functionName));
    if (isAtWork) this.atWork.add(invocation);
    else this.atWork.delete(invocation);
  }

  /** Waits, or rejects, when functions are out of order as a whole: mostly there are too many of them. */
  async meetOutage(): Promise<void> {
    const { outages, scheduler, random } = this.world;
    const mode = outages.modeOf('functions');
    if (mode === undefined) return;
    outages.met++;
    this.world.disturb();
    this.world.evidence.meetOutage(scheduler.now);
    const [least, most] = mode === 'slow' || mode === 'hangs' ? SLOW_START_MS : REFUSAL_MS;
    await scheduler.sleep(random.whole(least, most));
    this.world.disturb();
    if (mode === 'throttles') throw new InvocationError(TOO_MANY, 'Rate exceeded');
    if (mode === 'refuses') throw new InvocationError('Lambda.ServiceException', 'Lambda is unavailable');
  }

  /** A run has answered: what it has not awaited may never be done. */
  private judgeLeftBehind({ calls, functionName }: Invocation): void {
    for (const call of [...calls].filter((name) => !READS.test(name)))
      this.report(`[left behind] ${functionName} ended while ${call} was under way`);
  }

  /** Rejects while Lambda takes no run of this function. */
  private async meetThrottle(functionName: string): Promise<void> {
    const { random, scheduler } = this.world;
    if ((this.throttledUntil.get(functionName) ?? 0) <= scheduler.now) return;
    this.world.disturb();
    await scheduler.sleep(random.whole(...REFUSAL_MS));
    throw new InvocationError(TOO_MANY, 'Rate exceeded');
  }

  /** Once its execution is stopped, no later run deals with the files of a process that died or failed. */
  private markUnremovable({ functionName, requestId }: Invocation): void {
    if (requestId === undefined || !functionName.endsWith('store-outputs')) return;
    const isStopped = this.world.stepFunctions.executionOf(requestId)?.status !== 'RUNNING';
    if (isStopped) this.world.unremovable.add(requestId);
  }

  /** Runs it once more after this time; no caller waits for the result. */
  redeliver(fn: DeployedFunction, payload: unknown, milliseconds: number): void {
    this.world.scheduler.after(milliseconds, () => {
      this.world.log(() => `${fn.name} delivered again`);
      outside(() => this.run(fn, payload)).catch(() => undefined);
    });
  }

  /** Every process at work dies, or every one that works on a request or runs a function. */
  killAll({ requestId, functionName }: { requestId?: string; functionName?: string } = {}): void {
    for (const one of this.atWork) {
      const isMeant =
        one.requestId === (requestId ?? one.requestId) &&
        one.functionName === (functionName ?? one.functionName);
      if (isMeant) one.kill('killed');
    }
  }

  /** One run: settles when the handler does, when its time is up, or some time after its death. */
  run(fn: DeployedFunction, payload: unknown): Promise<unknown> {
    const { scheduler, random } = this.world;
    const instance = this.processes.take(fn.name);
    const skew = instance.skewMilliseconds;
    return new Promise((resolve, reject) => {
      const about = { functionName: fn.name, requestId: requestIdIn(payload), skewMilliseconds: skew };
      const invocation = new Invocation(about, (cause) => {
        this.setAtWork(invocation, false);
        this.noteSetback(fn.name);
        this.world.log(() => `${fn.name} died: ${cause}`);
        this.world.evidence.die(invocation);
        this.markUnremovable(invocation);
        const isTimeout = cause === 'Sandbox.Timedout';
        const notice = isTimeout ? 0 : random.whole(...DEATH_NOTICE_MS);
        const name = isTimeout ? cause : random.pick(['Lambda.Unknown', 'Runtime.ExitError']);
        scheduler.after(notice, () => reject(new InvocationError(name, 'The process ended.')));
      });
      this.setAtWork(invocation, true);
      const limitMs = instance.startMs + fn.timeoutSeconds * 1000;
      const limit = scheduler.after(limitMs, () => invocation.kill('Sandbox.Timedout'));
      const end = (settle: () => void): void => {
        if (invocation.dead) return;
        scheduler.cancel(limit);
        this.judgeLeftBehind(invocation);
        this.setAtWork(invocation, false);
        this.processes.rest(fn.name, instance, invocation);
        settle();
      };
      const endsAt = scheduler.now + limitMs;
      const remaining = (): number => endsAt - scheduler.now;
      this.world.log(() => `${fn.name} ${JSON.stringify(payload).slice(0, 300)}`);
      const event: unknown = payload === undefined ? undefined : JSON.parse(JSON.stringify(payload));
      const answer = this.world.mutation?.answers?.[fn.name];
      const started = invocations.run(invocation, async () => {
        if (instance.startMs > 0) await scheduler.sleep(instance.startMs);
        return answer ?? fn.handler(event, contextOf(fn, remaining));
      });
      started.then(
        (result) =>
          end(() => {
            this.world.log(() => `${fn.name} -> ${JSON.stringify(result ?? null).slice(0, 300)}`);
            resolve(result === undefined ? null : JSON.parse(JSON.stringify(result)));
          }),
        (error: Error) =>
          end(() => {
            this.world.log(() => `${fn.name} threw ${error.name}: ${error.message}`);
            this.world.evidence.fail(invocation, error.name);
            this.markUnremovable(invocation);
            reject(new InvocationError(error.name, error.message));
          }),
      );
    });
  }
}

/** The request that an event is about: workflow tasks name it. */
const requestIdIn = (payload: unknown): string | undefined => {
  const { requestId } = (payload ?? {}) as { requestId?: unknown };
  return typeof requestId === 'string' ? requestId : undefined;
};

const contextOf = ({ name }: DeployedFunction, remaining: () => number): Context =>
  ({
    functionName: name,
    functionVersion: '$LATEST',
    memoryLimitInMB: '512',
    invokedFunctionArn: `arn:aws:lambda:us-east-1:111122223333:function:${name}`,
    awsRequestId: 'lambda-request',
    logStreamName: 'stream',
    getRemainingTimeInMillis: remaining,
  }) as Context;
