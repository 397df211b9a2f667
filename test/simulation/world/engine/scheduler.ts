import type { Clock } from '@generation-service/local-aws/interpreter';

/** Something that will happen at a time, unless it is cancelled first. */
export interface Appointment {
  at: number;
  run: (() => void) | undefined;
}

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
const drained = async (): Promise<void> => {
  do await new Promise<void>((resolve) => nextTurn(resolve));
  while (held.size > 0);
};

/**
 * Virtual time: a list of appointments. Time stands still while code runs and jumps to the next appointment
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
  /** The next one stands last. */
  private readonly appointments: Appointment[] = [];

  constructor(startsAt: number) {
    this.now = startsAt;
  }

  after(milliseconds: number, run: () => void): Appointment {
    const { appointments } = this;
    const appointment = { at: this.now + (milliseconds > 0 ? milliseconds : 0), run };
    let [index, end] = [0, appointments.length];
    while (index < end) {
      const middle = (index + end) >> 1;
      if ((appointments[middle] as Appointment).at > appointment.at) index = middle + 1;
      else end = middle;
    }
    appointments.splice(index, 0, appointment);
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
    const { appointments } = this;
    while (appointments.length > 0 && !appointments.at(-1)?.run) appointments.pop();
    return appointments.at(-1)?.at;
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
    const appointment = this.appointments.pop();
    if (!appointment?.run) return;
    this.now = appointment.at;
    appointment.run();
    await drained();
  }
}
