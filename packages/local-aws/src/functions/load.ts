import { availableParallelism } from 'node:os';
import { performance as thisThread } from 'node:perf_hooks';
import type { FunctionWorker } from './worker.ts';

/** How busy the threads of a run are. Waiting for a processor counts as computing. */
export interface Load {
  /** Counts a worker from its start until it has ended. */
  watch(worker: FunctionWorker): void;
  /**
   * Whether another thread beside these workers of one function would get more done: a processor is free, or most of the workers wait for
   * others instead of computing.
   */
  hasRoomBeside(workers: ReadonlySet<FunctionWorker>): boolean;
}

/** Shares of time are of the last 100 ms or more. */
const SAMPLE_MILLISECONDS = 100;
/** From this share of the processors' time on, all of them are busy. */
const BUSY_SHARE = 0.9;
/** From this share of its time on, a worker computes rather than waits. */
const COMPUTING_SHARE = 0.5;

/** The load of the workers that it is told to watch, and of this thread. */
export const createLoad = (processors = availableParallelism()): Load => {
  const shares = new Map<FunctionWorker, number>();
  let sampledAt = performance.now();
  let before = thisThread.eventLoopUtilization();
  let areProcessorsBusy = false;

  const sample = () => {
    if (performance.now() - sampledAt < SAMPLE_MILLISECONDS) return;
    sampledAt = performance.now();
    let sum = thisThread.eventLoopUtilization(before).utilization;
    before = thisThread.eventLoopUtilization();
    for (const worker of shares.keys()) {
      if (!worker.isAlive()) {
        shares.delete(worker);
        continue;
      }
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
      return !areProcessorsBusy || computing.length * 2 < workers.size;
    },
  };
};
