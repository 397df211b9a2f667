import { AsyncLocalStorage } from 'node:async_hooks';

/** One run of a function. Once it is dead nothing it awaits ever comes back to it. */
export class Invocation {
  readonly functionName: string;
  /** The request of the invocation, if the event names a request. */
  readonly requestId: string | undefined;
  /** How far the clock of the machine it runs on is off. */
  readonly skewMilliseconds: number;
  dead = false;
  /** The calls that it makes and that are not over. */
  readonly calls = new Set<string>();
  private frozen = false;
  private readonly parked: (() => void)[] = [];
  private readonly onDeath: (cause: string) => void;

  constructor(
    about: { functionName: string; requestId: string | undefined; skewMilliseconds: number },
    onDeath: (cause: string) => void,
  ) {
    this.functionName = about.functionName;
    this.requestId = about.requestId;
    this.skewMilliseconds = about.skewMilliseconds;
    this.onDeath = onDeath;
  }

  /** Its function has answered: unfinished work goes on only if its process is used again. */
  freeze(): void {
    this.frozen = true;
  }

  /** Its process is used again. */
  thaw(): void {
    this.frozen = false;
    for (const goOn of this.parked.splice(0)) goOn();
  }

  /** Does something now, or once it is thawed. */
  whenThawed(run: () => void): void {
    if (this.frozen) this.parked.push(run);
    else run();
  }

  /** Stops it between two of its steps, as a process that dies. */
  kill(cause: string): void {
    if (this.dead) return;
    this.dead = true;
    this.onDeath(cause);
  }
}

/** The invocation that the running code belongs to; none for the world outside. */
export const invocations = new AsyncLocalStorage<Invocation | undefined>();

/** What a dead invocation gets back. */
export const never = <T>(): Promise<T> => new Promise<T>(() => {});

/** Runs something as the world outside: no invocation's death ends it. */
export const outside = <T>(run: () => T): T => invocations.run(undefined, run);

/** The result of the work. Rejects as soon as the signal aborts. */
export const unlessAborted = <T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> =>
  Promise.race([
    work,
    new Promise<never>((_, reject) => {
      if (signal?.aborted) reject(signal.reason);
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    }),
  ]);
