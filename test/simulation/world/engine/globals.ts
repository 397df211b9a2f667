import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import { invocations } from './invocation.ts';
import type { Random } from './random.ts';
import type { Appointment, Scheduler } from './scheduler.ts';

/** Replaces the process's clock, timers and randomness while a world runs. */
export interface Time {
  scheduler: Scheduler;
  random: Random;
}

let time: Time | undefined;

/** Gives the process a world's time, or its own back. Only for a process of its own: everything in it is affected. */
export const setTime = (next: Time | undefined): void => {
  time = next;
};

const RealDate = Date;
const real = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
  random: Math.random,
  randomBytes: crypto.randomBytes,
  randomInt: crypto.randomInt,
  pause: timersPromises.setTimeout,
};

/** Epoch milliseconds as the running invocation's machine has them. */
const now = (): number =>
  time ? time.scheduler.now + (invocations.getStore()?.skewMilliseconds ?? 0) : RealDate.now();

class VirtualDate extends RealDate {
  constructor(...values: [] | [string | number | Date]) {
    if (values.length === 0) super(now());
    else super(...values);
  }

  static override now(): number {
    return now();
  }
}

/** A timer as Node gives it, of which only the end of an invocation or its owner takes away the effect. */
class VirtualTimer {
  appointment: Appointment | undefined;
  unref(): this {
    return this;
  }
}

type Callback = (...values: unknown[]) => void;

const startTimer = (
  { scheduler }: Time,
  callback: Callback,
  milliseconds: number,
  repeats: boolean,
  values: unknown[],
): VirtualTimer => {
  const timer = new VirtualTimer();
  const owner = invocations.getStore();
  const run = (): void => {
    if (owner) owner.whenThawed(fire);
    else fire();
  };
  const fire = (): void => {
    if (owner?.dead) return;
    if (repeats) timer.appointment = scheduler.after(milliseconds, run);
    invocations.run(owner, callback, ...values);
  };
  timer.appointment = scheduler.after(milliseconds, run);
  return timer;
};

const timerFunction =
  (repeats: boolean, otherwise: typeof real.setTimeout | typeof real.setInterval) =>
  (callback: Callback, milliseconds = 0, ...values: unknown[]): unknown =>
    time
      ? startTimer(time, callback, milliseconds, repeats, values)
      : otherwise(callback, milliseconds, ...values);

const clearTimer = (timer: unknown): void => {
  if (!(timer instanceof VirtualTimer)) real.clearTimeout(timer as NodeJS.Timeout);
  else if (timer.appointment && time) time.scheduler.cancel(timer.appointment);
};

const TIME_IS_UP = new DOMException('The time is up.', 'TimeoutError');

const signalAfter = (milliseconds: number): AbortSignal => {
  const controller = new AbortController();
  const end = (): void => controller.abort(TIME_IS_UP);
  if (time) startTimer(time, end, milliseconds, false, []);
  else real.setTimeout(end, milliseconds).unref();
  return controller.signal;
};

const randomBytes = (size: number): Buffer => {
  if (!time) return real.randomBytes(size);
  const { random } = time;
  return Buffer.from(Array.from({ length: size }, () => random.whole(0, 255)));
};

const randomInt = (...bounds: number[]): number => {
  const [least, below] = bounds.length > 1 ? [bounds[0] ?? 0, bounds[1] ?? 0] : [0, bounds[0] ?? 0];
  return time ? time.random.whole(least, below - 1) : real.randomInt(least, below);
};

const fillRandom = <T extends NodeJS.TypedArray>(array: T): T => {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  bytes.set(randomBytes(array.byteLength));
  return array;
};

/** As `node:timers/promises` has it: rejects at once when the signal aborts. */
const pause = <T>(
  milliseconds?: number,
  value?: T,
  { signal }: { signal?: AbortSignal } = {},
): Promise<T | undefined> =>
  new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve(value);
    }, milliseconds);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });

/** Puts the stand-ins in place, once and for good, before anything of the service is loaded. */
export const installGlobals = (): void => {
  const standIns = {
    setTimeout: timerFunction(false, real.setTimeout),
    setInterval: timerFunction(true, real.setInterval),
    clearTimeout: clearTimer,
    clearInterval: clearTimer,
  };
  Object.assign(globalThis, standIns, { Date: VirtualDate });
  Object.assign(timers, standIns);
  AbortSignal.timeout = signalAfter;
  Math.random = () => (time ? time.random.next() : real.random());
  Object.assign(crypto, { randomBytes, randomInt });
  Object.defineProperty(globalThis.crypto, 'getRandomValues', { value: fillRandom });
  Object.assign(timersPromises, { setTimeout: pause });
  // Every reading of the real one asks the operating system: a twentieth of the time of a run.
  Object.defineProperty(process, 'env', { value: { ...process.env } });
  syncBuiltinESMExports();
};
