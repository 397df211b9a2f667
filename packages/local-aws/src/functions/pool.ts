import { availableParallelism } from 'node:os';
import type { InvocationResult, TakeChunk } from '../types.ts';
import type { Load } from './load.ts';
import type { FunctionWorker } from './worker.ts';

/** Bounds of a pool. */
export interface PoolLimits {
  /** Most worker threads at once; further events are queued. */
  maxWorkers: number;
  /** Idle time after which the last worker ends. Other workers end after a sixth of this time. */
  idleMilliseconds: number;
  /**
   * Patience with busy workers, at least as long as the newest start took. While the load has room, another worker is
   * started when no worker came free for this time, or when the queue was not empty for five times this time. An
   * earlier start would only delay events that finish soon. Under any load, an event gets a new worker after ten
   * times this time for each worker, counted from the later of the event's arrival and the newest start, and after 10
   * s at most.
   */
  patienceMilliseconds: number;
}

const QUEUE_PATIENCE = 5;
const LONG_PATIENCE = 10;
/** A third of what API Gateway waits for an answer. */
const MOST_PATIENCE_MILLISECONDS = 10_000;
/** The last worker of a function may be idle for so many times as long as others. */
const LAST_STAYS = 6;

/** The worker threads of one function. */
export interface WorkerPool {
  /** Runs one event (JSON text) on an idle worker, or a new one, as `InvokeFunction`. Rejects only when the pool is closed. */
  invoke(payload: string, takeChunk?: TakeChunk): Promise<InvocationResult>;
  /** Ends the worker that has been idle for the longest. False when none is idle. */
  endIdle(): boolean;
  /** Ends every worker and rejects queued and running events. */
  close(): Promise<void>;
}

interface QueuedEvent {
  payload: string;
  takeChunk: TakeChunk | undefined;
  /** By `performance.now()`. */
  queuedAt: number;
  resolve: (result: InvocationResult) => void;
  reject: (error: Error) => void;
}

/** Loading more threads than there are processors only delays the first. */
const MAX_STARTING = Math.max(2, availableParallelism());

/** The pool of `createPool`: idle workers, queued events, and the timers between them. */
class Pool implements WorkerPool {
  private readonly start: () => FunctionWorker;
  private readonly limits: PoolLimits;
  private readonly load: Load;
  private readonly workers = new Set<FunctionWorker>();
  private readonly idleTimers = new Map<FunctionWorker, NodeJS.Timeout>();
  private readonly queue: QueuedEvent[] = [];
  private readonly running = new Set<QueuedEvent>();
  private starting = 0;
  private isClosed = false;
  private growTimer: NodeJS.Timeout | undefined;
  private patience: number;
  /** When a worker last came free, and when the newest one was started, by `performance.now()`. */
  private freedAt = 0;
  private startedAt = 0;
  /** Since when there has been an event in the queue. */
  private queuedSince: number | undefined;

  constructor(start: () => FunctionWorker, limits: PoolLimits, load: Load) {
    this.start = start;
    this.limits = limits;
    this.load = load;
    this.patience = this.limits.patienceMilliseconds;
    this.load.join(this.endIdle);
  }

  invoke(payload: string, takeChunk?: TakeChunk): Promise<InvocationResult> {
    if (this.isClosed) return Promise.reject(new Error('The local run is stopping'));
    const { promise, resolve, reject } = Promise.withResolvers<InvocationResult>();
    this.queue.push({ payload, takeChunk, queuedAt: performance.now(), resolve, reject });
    this.dispatch();
    return promise;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.growTimer);
    for (const event of [...this.queue.splice(0), ...this.running]) {
      event.reject(new Error('The local run is stopping'));
    }
    await Promise.all([...this.workers].map(this.retire));
  }

  private readonly retire = (worker: FunctionWorker) => {
    clearTimeout(this.idleTimers.get(worker));
    this.idleTimers.delete(worker);
    this.workers.delete(worker);
    return worker.terminate();
  };

  private rest(worker: FunctionWorker) {
    if (!worker.isAlive() || this.isClosed) {
      void this.retire(worker);
      return;
    }
    this.restFor(worker, this.limits.idleMilliseconds / LAST_STAYS, () => {
      if (this.workers.size > 1) void this.retire(worker);
      else
        this.restFor(
          worker,
          this.limits.idleMilliseconds * (1 - 1 / LAST_STAYS),
          () => void this.retire(worker),
        );
    });
  }

  private restFor(worker: FunctionWorker, milliseconds: number, andThen: () => void) {
    this.idleTimers.set(worker, setTimeout(andThen, milliseconds).unref());
  }

  /** The worker used last, so that the others can reach their idle limit. */
  private takeIdle(): FunctionWorker | undefined {
    for (;;) {
      const worker = [...this.idleTimers.keys()].at(-1);
      if (!worker) return undefined;
      clearTimeout(this.idleTimers.get(worker));
      this.idleTimers.delete(worker);
      if (worker.isAlive()) return worker;
      void this.retire(worker);
    }
  }

  private async serve(worker: FunctionWorker, event: QueuedEvent) {
    this.running.add(event);
    const result = await worker.run(event.payload, event.takeChunk);
    this.running.delete(event);
    this.freedAt = performance.now();
    event.resolve(result);
    this.rest(worker);
    this.dispatch();
  }

  private async addWorker() {
    this.starting += 1;
    const beganAt = performance.now();
    this.startedAt = beganAt;
    try {
      const worker = this.start();
      this.workers.add(worker);
      this.load.watch(worker);
      const error = await worker.ready;
      this.patience = Math.max(this.limits.patienceMilliseconds, performance.now() - beganAt);
      if (error) {
        // Queued events would fail the same way, so all of them get this error, as on Lambda.
        for (const event of this.queue.splice(0))
          event.resolve({ payload: error, functionError: 'Unhandled' });
        await this.retire(worker);
      } else {
        this.rest(worker);
      }
    } catch (error) {
      for (const event of this.queue.splice(0)) event.reject(error as Error);
    } finally {
      this.starting -= 1;
      this.dispatch();
    }
  }

  private dispatch() {
    if (this.isClosed) return;
    while (this.queue.length > 0) {
      const worker = this.takeIdle();
      if (!worker) break;
      const event = this.queue.shift();
      if (event) void this.serve(worker, event);
    }
    this.queuedSince = this.queue.length === 0 ? undefined : (this.queuedSince ?? performance.now());
    this.grow();
  }

  /** How long to wait before another worker may be started for the oldest event, in milliseconds. */
  private growIn({ queuedAt }: QueuedEvent): number {
    if (this.workers.size === 0) return 0;
    const now = performance.now();
    const longPatience = Math.min(
      this.workers.size * LONG_PATIENCE * this.patience,
      MOST_PATIENCE_MILLISECONDS,
    );
    const atMost = Math.max(queuedAt, this.startedAt) + longPatience - now;
    const noneFree = Math.max(queuedAt, this.freedAt) + this.patience - now;
    const alwaysQueued =
      Math.max(this.queuedSince ?? now, this.startedAt) + QUEUE_PATIENCE * this.patience - now;
    const atLeast = Math.min(noneFree, alwaysQueued);
    const isDue = atLeast <= 0 && this.load.hasRoomBeside(this.workers);
    return isDue ? 0 : Math.min(atLeast > 0 ? atLeast : this.patience, atMost);
  }

  /** Starts workers for queued events: the first at once, each other one when it is due. */
  private readonly grow = () => {
    clearTimeout(this.growTimer);
    for (;;) {
      const [oldest] = this.queue;
      if (!oldest || this.isClosed || this.queue.length <= this.starting) return;
      if (this.starting >= MAX_STARTING || this.workers.size >= this.limits.maxWorkers) return;
      const wait = this.growIn(oldest);
      // The first of a function needs no room: others may wait for it.
      const mayStart = wait <= 0 && (this.workers.size === 0 || this.load.makeRoom());
      if (!mayStart) {
        this.growTimer = setTimeout(this.grow, Math.max(wait, 0) || this.patience);
        return;
      }
      void this.addWorker();
    }
  };

  readonly endIdle = (): boolean => {
    const [oldest] = this.idleTimers.keys();
    if (oldest) void this.retire(oldest);
    return oldest !== undefined;
  };
}

/** A pool that starts workers with `start` on demand, as the load of all pools lets it. */
export const createPool = (start: () => FunctionWorker, limits: PoolLimits, load: Load): WorkerPool =>
  new Pool(start, limits, load);
