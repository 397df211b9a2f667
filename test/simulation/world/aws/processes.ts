import type { Invocation } from '../engine/invocation.ts';
import { Part } from '../part.ts';

/** A process that serves one run of a function after the other. */
interface Instance {
  skewMilliseconds: number;
  /** How long it takes until its first run begins. */
  startMs: number;
  /** The last runs, which may have left something behind. */
  past: Invocation[];
  idleSince: number;
}

/** How long a process without work is kept, and of how many runs it keeps what they left behind. */
const KEPT_MS = 10 * 60_000;
const PAST_KEPT = 4;

/** How long a new process takes to start. Most are warm in a service that is used, and no fault is one that is not. */
const START_MS = [0, 0, 0, 150, 900];
/** How far the clocks of two machines can be apart. */
const SKEW_MS = [0, 0, 0, -1_500, -40, 300, 1_500];

/** The processes of functions that are free, and new ones. */
export class Processes extends Part {
  /** How far the clocks of machines that start now are off, besides, and until when that is so. */
  clock = { offsetMs: 0, untilMs: 0 };
  private readonly idle = new Map<string, Instance[]>();

  /** A process for a function: the free process that was used last, with the state left in its memory, or a new process. */
  take(name: string): Instance {
    const { scheduler, random, faults } = this.world;
    const idle = this.idle.get(name) ?? [];
    const instance = idle.pop();
    if (instance && scheduler.now - instance.idleSince < KEPT_MS) {
      for (const past of instance.past) past.thaw();
      return { ...instance, startMs: 0 };
    }
    const offMs = scheduler.now < this.clock.untilMs ? random.pick([0, this.clock.offsetMs]) : 0;
    const skewMilliseconds = (faults.enabled ? random.pick(SKEW_MS) : 0) + offMs;
    return { skewMilliseconds, startMs: random.pick(START_MS), past: [], idleSince: 0 };
  }

  /** Freezes a process until it is used again. */
  rest(name: string, instance: Instance, invocation: Invocation): void {
    instance.past = [...instance.past.slice(1 - PAST_KEPT), invocation];
    for (const past of instance.past) past.freeze();
    instance.idleSince = this.world.scheduler.now;
    const idle = this.idle.get(name) ?? [];
    this.idle.set(name, [...idle, instance]);
  }

  /** A deployment: every process that is free goes away, with what was left behind in it. */
  replaceAll(): void {
    this.idle.clear();
  }
}
