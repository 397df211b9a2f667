import type { Clock } from '@generation-service/local-aws/interpreter';

/** Something that will happen at a time, unless it is cancelled first. */
export interface Appointment {
  at: number;
  order: number;
  run: (() => void) | undefined;
}

const isBefore = (a: Appointment, b: Appointment): boolean =>
  a.at === b.at ? a.order < b.order : a.at < b.at;

/** Captured before it is replaced: lets all ready work run, in real time. */
const nextTurn = globalThis.setImmediate;

/** Work that takes real time; virtual time stands still during it. */
const held = new Set<Promise<unknown>>();

/** Lets virtual time wait for something that takes real time. */
export const hold = async <T>(work: Promise<T>): Promise<T> => {
  held.add(work);
  try {
    return await work;
  } finally {
    held.delete(work);
  }
};

/** Lets every promise and stream that can go on do so. */
export const drained = async (): Promise<void> => {
  do await new Promise<void>((resolve) => nextTurn(resolve));
  while (held.size > 0);
};

/**
 * Virtual time: a heap of appointments. Time stands still while code runs and jumps to the next appointment
 * once nothing can go on without it. Appointments of one instant keep the order in which they were made.
 */
export class Scheduler {
  /** Epoch milliseconds. */
  now: number;
  /** The same time, for the interpreter of state machines. */
  readonly clock: Clock = {
    now: () => this.now,
    after: (milliseconds, act) => {
      const appointment = this.after(milliseconds, act);
      return () => this.cancel(appointment);
    },
  };
  private readonly heap: Appointment[] = [];
  private made = 0;

  constructor(startsAt: number) {
    this.now = startsAt;
  }

  after(milliseconds: number, run: () => void): Appointment {
    const at = this.now + (milliseconds > 0 ? milliseconds : 0);
    const appointment = { at, order: this.made++, run };
    this.push(appointment);
    return appointment;
  }

  cancel(appointment: Appointment): void {
    appointment.run = undefined;
  }

  sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => this.after(milliseconds, resolve));
  }

  /** When something happens next, or undefined when nothing ever will. */
  get nextAt(): number | undefined {
    while (this.heap[0] && !this.heap[0].run) this.pop();
    return this.heap[0]?.at;
  }

  /** Lets so many milliseconds pass. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.now + milliseconds;
    await drained();
    for (let at = this.nextAt; at !== undefined && at <= end; at = this.nextAt) await this.step();
    this.now = end;
  }

  /** Lets time pass until `isDone`, or until nothing is left to happen within so many milliseconds; says which. */
  async advanceUntil(isDone: () => boolean, withinMilliseconds: number): Promise<boolean> {
    const end = this.now + withinMilliseconds;
    await drained();
    for (let at = this.nextAt; !isDone(); at = this.nextAt) {
      if (at === undefined || at > end) return false;
      await this.step();
    }
    return true;
  }

  private async step(): Promise<void> {
    const appointment = this.pop();
    if (!appointment?.run) return;
    this.now = appointment.at;
    appointment.run();
    await drained();
  }

  private push(appointment: Appointment): void {
    const { heap } = this;
    let place = heap.length;
    heap.push(appointment);
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = heap[parent] as Appointment;
      if (!isBefore(appointment, above)) break;
      heap[place] = above;
      place = parent;
    }
    heap[place] = appointment;
  }

  private pop(): Appointment | undefined {
    const { heap } = this;
    const first = heap[0];
    const last = heap.pop();
    if (!first || !last || heap.length === 0) return first;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right && isBefore(right, heap[child] as Appointment)) child++;
      const below = heap[child] as Appointment;
      if (!isBefore(below, last)) break;
      heap[place] = below;
      place = child;
    }
    heap[place] = last;
    return first;
  }
}
