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
   * started once none has come free for this long, or the queue has not been empty for five times as long. Starting
   * one sooner would only delay events that finish soon. Under any load, an event gets a worker once it and the
   * newest worker have waited ten times as long, times the number of workers, 10 s at most.
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

/** A pool that starts workers with `start` on demand, as the load of all pools lets it. */
export const createPool = (start: () => FunctionWorker, limits: PoolLimits, load: Load): WorkerPool => {
  const workers = new Set<FunctionWorker>();
  const idleTimers = new Map<FunctionWorker, NodeJS.Timeout>();
  const queue: QueuedEvent[] = [];
  const running = new Set<QueuedEvent>();
  let starting = 0;
  let isClosed = false;
  let growTimer: NodeJS.Timeout | undefined;
  let patience = limits.patienceMilliseconds;
  /** When a worker last came free, and when the newest one was started, by `performance.now()`. */
  let freedAt = 0;
  let startedAt = 0;
  /** Since when there has been an event in the queue. */
  let queuedSince: number | undefined;

  const retire = (worker: FunctionWorker) => {
    clearTimeout(idleTimers.get(worker));
    idleTimers.delete(worker);
    workers.delete(worker);
    return worker.terminate();
  };

  const rest = (worker: FunctionWorker) => {
    if (!worker.isAlive() || isClosed) {
      void retire(worker);
      return;
    }
    restFor(worker, limits.idleMilliseconds / LAST_STAYS, () => {
      if (workers.size > 1) void retire(worker);
      else restFor(worker, limits.idleMilliseconds * (1 - 1 / LAST_STAYS), () => void retire(worker));
    });
  };

  const restFor = (worker: FunctionWorker, milliseconds: number, andThen: () => void) => {
    idleTimers.set(worker, setTimeout(andThen, milliseconds).unref());
  };

  /** The worker used last, so that the others can reach their idle limit. */
  const takeIdle = (): FunctionWorker | undefined => {
    for (;;) {
      const worker = [...idleTimers.keys()].at(-1);
      if (!worker) return undefined;
      clearTimeout(idleTimers.get(worker));
      idleTimers.delete(worker);
      if (worker.isAlive()) return worker;
      void retire(worker);
    }
  };

  const serve = async (worker: FunctionWorker, event: QueuedEvent) => {
    running.add(event);
    const result = await worker.run(event.payload, event.takeChunk);
    running.delete(event);
    freedAt = performance.now();
    event.resolve(result);
    rest(worker);
    dispatch();
  };

  const addWorker = async () => {
    starting += 1;
    const beganAt = performance.now();
    startedAt = beganAt;
    try {
      const worker = start();
      workers.add(worker);
      load.watch(worker);
      const error = await worker.ready;
      patience = Math.max(limits.patienceMilliseconds, performance.now() - beganAt);
      if (error) {
        // Queued events would fail the same way, so all of them get this error, as on Lambda.
        for (const event of queue.splice(0)) event.resolve({ payload: error, functionError: 'Unhandled' });
        await retire(worker);
      } else {
        rest(worker);
      }
    } catch (error) {
      for (const event of queue.splice(0)) event.reject(error as Error);
    } finally {
      starting -= 1;
      dispatch();
    }
  };

  const dispatch = () => {
    if (isClosed) return;
    while (queue.length > 0) {
      const worker = takeIdle();
      if (!worker) break;
      const event = queue.shift();
      if (event) void serve(worker, event);
    }
    queuedSince = queue.length === 0 ? undefined : (queuedSince ?? performance.now());
    grow();
  };

  /** How long to wait before another worker may be started for the oldest event, in milliseconds. */
  const growIn = ({ queuedAt }: QueuedEvent): number => {
    if (workers.size === 0) return 0;
    const now = performance.now();
    const longPatience = Math.min(workers.size * LONG_PATIENCE * patience, MOST_PATIENCE_MILLISECONDS);
    const atMost = Math.max(queuedAt, startedAt) + longPatience - now;
    const noneFree = Math.max(queuedAt, freedAt) + patience - now;
    const alwaysQueued = Math.max(queuedSince ?? now, startedAt) + QUEUE_PATIENCE * patience - now;
    const atLeast = Math.min(noneFree, alwaysQueued);
    const isDue = atLeast <= 0 && load.hasRoomBeside(workers);
    return isDue ? 0 : Math.min(atLeast > 0 ? atLeast : patience, atMost);
  };

  /** Starts workers for queued events: the first at once, each other one when it is due. */
  const grow = () => {
    clearTimeout(growTimer);
    for (;;) {
      const [oldest] = queue;
      if (!oldest || isClosed || queue.length <= starting) return;
      if (starting >= MAX_STARTING || workers.size >= limits.maxWorkers) return;
      const wait = growIn(oldest);
      // The first of a function needs no room: others may wait for it.
      const mayStart = wait <= 0 && (workers.size === 0 || load.makeRoom());
      if (!mayStart) {
        growTimer = setTimeout(grow, Math.max(wait, 0) || patience);
        return;
      }
      void addWorker();
    }
  };

  const endIdle = (): boolean => {
    const [oldest] = idleTimers.keys();
    if (oldest) void retire(oldest);
    return oldest !== undefined;
  };
  load.join(endIdle);

  return {
    endIdle,
    invoke: (payload, takeChunk) => {
      if (isClosed) return Promise.reject(new Error('The local run is stopping'));
      const { promise, resolve, reject } = Promise.withResolvers<InvocationResult>();
      queue.push({ payload, takeChunk, queuedAt: performance.now(), resolve, reject });
      dispatch();
      return promise;
    },
    close: async () => {
      isClosed = true;
      clearTimeout(growTimer);
      for (const event of [...queue.splice(0), ...running]) {
        event.reject(new Error('The local run is stopping'));
      }
      await Promise.all([...workers].map(retire));
    },
  };
};
