import { availableParallelism } from 'node:os';
import { performance as thisThread } from 'node:perf_hooks';
import type { FunctionWorker } from './worker.ts';

/** How many threads a run has, and how busy they are. Waiting for a processor counts as computing. */
export interface Load {
  /** Counts a worker from its start until it has ended. */
  watch(worker: FunctionWorker): void;
  /**
   * Whether another thread beside these workers of one function would get more done: a processor is free, or most of the workers wait for
   * others instead of computing. Never while the thread that answers all their calls is busy.
   */
  hasRoomBeside(workers: ReadonlySet<FunctionWorker>): boolean;
  /** Adds a pool, by what ends one of its idle workers, if it has any. */
  join(endIdle: () => boolean): void;
  /** Whether there may be one more thread, after an idle one of another pool has ended if need be. */
  makeRoom(): boolean;
}

/** Threads of all functions together, besides the first of each: 30 MB each. */
const MAX_THREADS = 20;

/** Shares of time are of the last 100 ms or more. */
const SAMPLE_MILLISECONDS = 100;
/** From this share of the processors' time on, all of them are busy. */
const BUSY_SHARE = 0.9;
/** From this share of its time on, a worker computes rather than waits. */
const COMPUTING_SHARE = 0.5;

/** What a load is measured by. */
export interface LoadOptions {
  processors?: number;
  maxThreads?: number;
  /** The share of the time since the last call in which this thread computed. */
  takeOwnUtilization?: () => number;
}

let before = thisThread.eventLoopUtilization();
const utilizationOfThisThread = (): number => {
  const { utilization } = thisThread.eventLoopUtilization(before);
  before = thisThread.eventLoopUtilization();
  return utilization;
};

/** The load of the workers that it is told to watch, and of this thread. */
export const createLoad = ({
  processors = availableParallelism(),
  maxThreads = MAX_THREADS,
  takeOwnUtilization = utilizationOfThisThread,
}: LoadOptions = {}): Load => {
  const shares = new Map<FunctionWorker, number>();
  const pools: (() => boolean)[] = [];
  let sampledAt = performance.now();
  let areProcessorsBusy = false;
  let isThisThreadBusy = false;

  const forgetEnded = () => {
    for (const worker of shares.keys()) if (!worker.isAlive()) shares.delete(worker);
  };

  const sample = () => {
    if (performance.now() - sampledAt < SAMPLE_MILLISECONDS) return;
    sampledAt = performance.now();
    let sum = takeOwnUtilization();
    isThisThreadBusy = sum >= BUSY_SHARE;
    forgetEnded();
    for (const worker of shares.keys()) {
      const share = worker.takeUtilization();
      shares.set(worker, share);
      sum += share;
    }
    areProcessorsBusy = sum >= BUSY_SHARE * processors;
  };

  return {
    watch(worker) {
      shares.set(worker, 0);
    },
    hasRoomBeside(workers) {
      sample();
      const computing = [...workers].filter((worker) => (shares.get(worker) ?? 0) >= COMPUTING_SHARE);
      return !isThisThreadBusy && (!areProcessorsBusy || computing.length * 2 < workers.size);
    },
    join(endIdle) {
      pools.push(endIdle);
    },
    makeRoom() {
      forgetEnded();
      return shares.size < maxThreads || pools.some((endIdle) => endIdle());
    },
  };
};
