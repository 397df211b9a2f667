import { Part } from '../part.ts';
import type { World } from '../world.ts';
import type { Call, CallErrors } from './calls.ts';
import { CALL_FAULTS, type CallFault } from './faults.ts';
import { type Invocation, invocations, never, outside, unlessAborted } from './invocation.ts';
import type { Service } from './outages.ts';

/** What no client may wait for without a limit. */
const AWS = new Set<Service | undefined>(['table', 'bucket', 'secrets', 'step-functions']);
/** One way to the service or back. */
const LATENCY_MS = [1, 4] as const;
const SLOW_MS = [200, 2_500] as const;
/** How long a read of several items goes on, and how long now and then. */
const READ_MS = [1, 6] as const;
const LONG_READ_MS = [10, 80] as const;
const LONG_READ_SHARE = 0.03;
/** How long a call to S3, or to somebody else's server, can be on its way. */
export const STALLED_MS = 60_000;
/** After how long a connection breaks whose other end is gone, and what the SDK waits at most before it tries again. */
const BROKEN_AFTER_MS = 3_000;
const RETRY_PAUSE_MS = 100;
/** How much longer everything takes while a service is slow. */
const OUTAGE_SLOW_MS = [300, 2_000] as const;

const SDK_ERRORS: CallErrors = {
  throttled: 'ThrottlingException',
  refused: 'InternalServerError',
  lost: 'TimeoutError',
};

/** Makes a call as the SDK would: with its own tries, over a network and against a service that can fail. */
export const makeCall = <T>(world: World, call: Call<T>): Promise<T> => {
  const invocation = invocations.getStore();
  if (invocation?.dead) return never();
  return new Tries(world, call, invocation).run();
};

/** Faults of some calls only, and the function of a call that makes their error. */
const ERROR_OF = {
  conflict: 'conflict',
  denied: 'denied',
  'throttled-inside': 'throttled',
  'under-way': 'underWay',
} as const satisfies Partial<Record<CallFault, keyof Call<unknown>>>;

class Tries<T> extends Part {
  private readonly call: Call<T>;
  private readonly invocation: Invocation | undefined;
  private tried = 0;
  private wasDone = false;
  private wasAnswered = false;

  constructor(world: World, call: Call<T>, invocation: Invocation | undefined) {
    super(world);
    this.call = call;
    this.invocation = invocation;
  }

  /** Its errors say how often it was tried, as those of the SDK do. */
  async run(): Promise<T> {
    const { name, service } = this.call;
    // A server that is given up may go on for long.
    if (AWS.has(service)) this.invocation?.calls.add(name);
    try {
      return await unlessAborted(this.repeat(), this.call.signal);
    } catch (error) {
      if (this.wasAnswered) this.call.unheard?.();
      const { $metadata } = error as { $metadata?: object };
      throw Object.assign(error as Error, { $metadata: { ...$metadata, attempts: this.tried } });
    } finally {
      this.invocation?.calls.delete(name);
    }
  }

  private async repeat(): Promise<T> {
    const { faults } = this.world;
    const fitting = CALL_FAULTS.filter((fault) => this.fits(fault));
    let lasting: CallFault | undefined;
    let error: Error | undefined;
    while (this.tried < this.call.maxTries && !this.call.signal?.aborted) {
      this.tried++;
      if (this.tried > 1) {
        this.world.disturb(this.call.service);
        await this.wait(faults.random.whole(1, RETRY_PAUSE_MS));
      }
      const refused = await this.meetOutage();
      if (refused) {
        error = refused;
        continue;
      }
      const fault: CallFault | undefined = lasting ?? faults.meet(fitting);
      if (fault) this.world.log(() => `  fault ${fault} at ${this.call.name}`);
      switch (fault) {
        case 'crash-before':
          this.invocation?.kill('crashed');
          return never();
        case 'conflict':
        case 'denied':
        case 'throttled-inside':
        case 'under-way':
          if (fault === 'under-way') {
            this.tried++;
            if (this.invocation) this.world.evidence.underWay.add(this.invocation);
            this.arrive().catch(() => undefined);
          }
          await this.wait(this.latency());
          throw this.call[ERROR_OF[fault]]?.();
        case 'partly':
          return this.answered(this.arrive(this.call.partly));
        case 'refused-always':
        case 'refused':
          if (fault === 'refused-always') lasting = fault;
          await this.wait(this.latency());
          error = this.errorOf('throttled');
          continue;
        case 'answer-lost':
        case 'answer-lost-always':
          this.wasAnswered = true;
          if (lasting === undefined)
            await this.arrive().then(
              () => {
                this.wasDone = true;
              },
              () => undefined,
            );
          if (fault === 'answer-lost-always') lasting = fault;
          await this.wait(Math.min(BROKEN_AFTER_MS, this.call.answerMs ?? BROKEN_AFTER_MS));
          error = this.errorOf('lost');
          continue;
        case 'stalled':
          await this.stall();
          error = this.errorOf('lost');
          continue;
        case 'crash-after':
          await this.arrive().catch(() => undefined);
          this.invocation?.kill('crashed');
          return never();
        case 'slow':
          if (!(await this.delay(SLOW_MS[0], this.call.slowestMs ?? SLOW_MS[1]))) {
            error = this.errorOf('lost');
            continue;
          }
      }
      return this.answered(this.arrive());
    }
    error ??= this.errorOf('lost');
    if (!this.wasDone && error.name !== this.nameOf('lost')) this.call.givenUp?.();
    throw error;
  }

  /** The effect of the service's outage on a try: the error that ends the try, or undefined. */
  private async meetOutage(): Promise<Error | undefined> {
    const { outages } = this.world;
    const mode = outages.modeOf(this.call.service, this.call.partitions);
    if (mode === undefined) return undefined;
    outages.met++;
    this.world.disturb(this.call.service);
    this.world.evidence.meetOutage(this.world.scheduler.now);
    this.world.log(() => `  outage: ${this.call.service} ${mode} ${this.call.name}`);
    switch (mode) {
      case 'hangs':
        await this.stall();
        return this.errorOf('lost');
      case 'slow':
        return (await this.delay(...OUTAGE_SLOW_MS)) ? undefined : this.errorOf('lost');
      case 'throttles': {
        await this.wait(this.latency());
        const throttled = this.call.throttled?.();
        if (throttled) throw throttled;
        return this.errorOf('throttled');
      }
      case 'refuses':
        await this.wait(this.latency());
        return this.errorOf('refused');
    }
  }

  /** Silence, until the client gives up. A client without a limit waits until its process ends. */
  private async stall(): Promise<void> {
    const { answerMs } = this.call;
    if (answerMs === undefined) {
      if (AWS.has(this.call.service)) this.world.break(new Error(`${this.call.name} waits for ever.`));
      return never();
    }
    await this.wait(answerMs);
  }

  /** A long way there. False when the client gave up on it; then it never arrived. */
  private async delay(least: number, most: number): Promise<boolean> {
    const { answerMs = Number.POSITIVE_INFINITY } = this.call;
    const milliseconds = this.world.faults.random.whole(least, most);
    await this.wait(Math.min(milliseconds, answerMs));
    this.world.disturb(this.call.service);
    return milliseconds < answerMs;
  }

  private nameOf(kind: keyof CallErrors): string {
    return (this.call.errors ?? SDK_ERRORS)[kind];
  }

  private errorOf(kind: keyof CallErrors): Error {
    const name = this.nameOf(kind);
    const $metadata = { httpStatusCode: kind === 'refused' ? 500 : 400 };
    const message = `${name}, by the plan of faults and outages.`;
    return Object.assign(new Error(message), { name, code: name, $metadata });
  }

  private fits(fault: CallFault): boolean {
    if (fault in ERROR_OF) return this.call[ERROR_OF[fault as keyof typeof ERROR_OF]] !== undefined;
    if (fault === 'partly') return this.call.partly !== undefined;
    return !fault.startsWith('crash-') || this.invocation !== undefined;
  }

  /** The way there and what happens at its end, whether or not the caller still lives by then. */
  private async arrive(perform = this.call.perform): Promise<T> {
    await this.world.scheduler.sleep(this.latency());
    return outside(perform);
  }

  /** The way back. */
  private async answered(done: Promise<T>): Promise<T> {
    try {
      const answer = await done;
      await this.world.scheduler.sleep(this.call.readOn ? this.readingTime() : this.latency());
      const whole = this.call.readOn?.(answer) ?? answer;
      await this.thawed();
      return whole;
    } catch (error) {
      await this.wait(this.latency());
      throw error;
    }
  }

  private latency(): number {
    return this.world.faults.random.whole(...LATENCY_MS);
  }

  private readingTime(): number {
    const { random } = this.world.faults;
    const [least, most] = random.next() < LONG_READ_SHARE ? LONG_READ_MS : READ_MS;
    return random.whole(least, most);
  }

  private async wait(milliseconds: number): Promise<void> {
    await this.world.scheduler.sleep(milliseconds);
    await this.thawed();
  }

  /** Until the process that made the call goes on, if ever. */
  private async thawed(): Promise<void> {
    const { invocation } = this;
    if (invocation) await new Promise<void>((resolve) => invocation.whenThawed(resolve));
    if (invocation?.dead) await never();
  }
}
