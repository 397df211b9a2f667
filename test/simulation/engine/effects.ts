import type { World } from '../world.ts';
import { CALL_FAULTS, type CallFault } from './faults.ts';
import { type Invocation, invocations, never, outside } from './invocation.ts';

/** A call to something outside the process: to AWS. */
export interface Call<T> {
  /** As it reads in a trace. */
  name: string;
  /** How often the SDK's client tries it. */
  maxTries: number;
  /** Does it, once it has arrived. */
  perform: () => T | Promise<T>;
  /** Makes the error of a write that meets another one; absent for what cannot. */
  conflict?: () => Error;
  /** The errors of a call that is refused and of one whose answer is lost; those of AWS's SDK unless given. */
  errors?: { refused: string; lost: string };
  /** The longest that it can be on its way; as long as the table's client waits unless given. */
  slowestMs?: number;
  /** Told when every try was refused. */
  givenUp?: () => void;
  /** Told when it was done and every answer was lost. */
  unheard?: () => void;
}

/** One way to the service or back. */
const LATENCY_MS = [1, 4] as const;
const SLOW_MS = [200, 2_500] as const;
/** How long a call can be on its way whose client sets no limit of its own. */
export const STALLED_MS = 60_000;
/** After how long the SDK gives an answer up, and what it waits at most before it tries again. */
const ANSWER_TIMEOUT_MS = 3_000;
const RETRY_PAUSE_MS = 100;

const SDK_ERRORS = { refused: 'ThrottlingException', lost: 'TimeoutError' };

const named = (name: string): Error =>
  Object.assign(new Error(`${name}, by the fault plan.`), { name, code: name });

/** Makes a call as the SDK would: with its own tries, over a network and against a service that can fail. */
export const makeCall = <T>(world: World, call: Call<T>): Promise<T> => {
  const invocation = invocations.getStore();
  if (invocation?.dead) return never();
  return new Tries(world, call, invocation).run();
};

class Tries<T> {
  private readonly world: World;
  private readonly call: Call<T>;
  private readonly invocation: Invocation | undefined;

  constructor(world: World, call: Call<T>, invocation: Invocation | undefined) {
    this.world = world;
    this.call = call;
    this.invocation = invocation;
  }

  async run(): Promise<T> {
    const { faults } = this.world;
    const { refused, lost } = this.call.errors ?? SDK_ERRORS;
    const fitting = CALL_FAULTS.filter((fault) => this.fits(fault));
    let lasting: CallFault | undefined;
    let error = lost;
    for (let attempt = 1; attempt <= this.call.maxTries; attempt++) {
      if (attempt > 1) this.world.disturb();
      if (attempt > 1) await this.wait(faults.random.whole(1, RETRY_PAUSE_MS));
      const fault: CallFault | undefined = lasting ?? faults.meet(fitting);
      if (fault) this.world.note(() => `  fault ${fault} at ${this.call.name}`);
      switch (fault) {
        case 'crash-before':
          this.invocation?.kill('crashed');
          return never();
        case 'conflict':
          await this.wait(this.latency());
          throw this.call.conflict?.();
        case 'refused-always':
        case 'refused':
          if (fault === 'refused-always') lasting = fault;
          await this.wait(this.latency());
          error = refused;
          continue;
        case 'answer-lost':
        case 'answer-lost-always':
          if (lasting === undefined) await this.arrive().catch(() => undefined);
          if (fault === 'answer-lost-always') lasting = fault;
          await this.wait(ANSWER_TIMEOUT_MS);
          error = lost;
          continue;
        case 'crash-after':
          await this.arrive().catch(() => undefined);
          this.invocation?.kill('crashed');
          return never();
        case 'slow':
          await this.wait(faults.random.whole(SLOW_MS[0], this.call.slowestMs ?? SLOW_MS[1]));
          this.world.disturb();
      }
      return this.answered(this.arrive());
    }
    if (lasting === 'refused-always') this.call.givenUp?.();
    if (error === lost) this.call.unheard?.();
    throw named(error);
  }

  private fits(fault: CallFault): boolean {
    if (fault === 'conflict') return this.call.conflict !== undefined;
    const crash = fault === 'crash-before' || fault === 'crash-after';
    return !crash || this.invocation !== undefined;
  }

  /** The way there and what happens at its end, whether or not the caller still lives by then. */
  private async arrive(): Promise<T> {
    await this.world.scheduler.sleep(this.latency());
    return outside(this.call.perform);
  }

  /** The way back. */
  private async answered(done: Promise<T>): Promise<T> {
    try {
      const answer = await done;
      await this.wait(this.latency());
      return answer;
    } catch (error) {
      await this.wait(this.latency());
      throw error;
    }
  }

  private latency(): number {
    return this.world.faults.random.whole(...LATENCY_MS);
  }

  private async wait(milliseconds: number): Promise<void> {
    await this.world.scheduler.sleep(milliseconds);
    if (this.invocation?.dead) await never();
  }
}
