import { availableParallelism } from 'node:os';
import { performance as thisThread } from 'node:perf_hooks';
import type { FunctionWorker } from './worker.ts';

/** How many threads a run has, and how busy they are. Waiting for a processor counts as computing. */
export interface Load {
  /** Counts a worker from its start until it has ended. */
  watch(worker: FunctionWorker): void;
  /**
   * Whether another thread beside the given workers of one function would get more done. While a processor is free:
   * if the workers are fewer than processors, or most workers wait for at least half of their time. While all
   * processors are busy: only if most workers do nothing but wait. Never while this thread, which answers the calls
   * of all workers, is busy.
   */
  hasRoomBeside(workers: ReadonlySet<FunctionWorker>): boolean;
  /** Adds a pool, by the function that ends an idle worker of the pool, if the pool has any. */
  join(endIdle: () => boolean): void;
  /** Makes room for another thread, by ending an idle worker of another pool if needed. Returns whether there is room. */
  makeRoom(): boolean;
}

/** Threads of all functions together, besides the first of each: 30 MB each. */
const MAX_THREADS = 20;

/** Shares of time are of the last 100 ms or more. */
const SAMPLE_MILLISECONDS = 100;
/** From this share of computing time on, this thread, which answers the calls of all workers, is busy. */
const BUSY_SHARE = 0.9;
/**
 * From this share of the processors' time on, all processors are busy: the DynamoDB engine and other processes take
 * the rest.
 */
const ALL_BUSY_SHARE = 0.75;
/**
 * From this share of processor time used by this process on, all processors are busy. Processor time leaves out the
 * waits for a free processor.
 */
const ALL_TAKEN_SHARE = 0.65;
/** Below this share of its time, a worker waits rather than computes. */
const COMPUTING_SHARE = 0.5;
/** Below this share of its time, a worker does nothing but wait, such as for a provider. */
const IDLE_SHARE = 0.1;
/** The share assumed of a loading thread, whose event loop, the source of measured shares, has not begun. */
const LOADING_SHARE = 1;

/** What a load is measured by. */
export interface LoadOptions {
  processors?: number;
  maxThreads?: number;
  /** The share of the time since the last call in which this thread computed. */
  takeOwnUtilization?: () => number;
  /** Milliseconds of processor time that all threads of this process have used. */
  processorTime?: () => number;
}

let before = thisThread.eventLoopUtilization();
const utilizationOfThisThread = (): number => {
  const { utilization } = thisThread.eventLoopUtilization(before);
  before = thisThread.eventLoopUtilization();
  return utilization;
};

const processorTimeOfThisProcess = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/** The load of the workers that it is told to watch, and of this thread. */
export const createLoad = ({
  processors = availableParallelism(),
  maxThreads = MAX_THREADS,
  takeOwnUtilization = utilizationOfThisThread,
  processorTime = processorTimeOfThisProcess,
}: LoadOptions = {}): Load => {
  const shares = new Map<FunctionWorker, number>();
  const loading = new Set<FunctionWorker>();
  const pools: (() => boolean)[] = [];
  let sampledAt = performance.now();
  let takenBefore = processorTime();
  let areProcessorsBusy = false;
  let isThisThreadBusy = false;

  const forgetEnded = () => {
    for (const worker of shares.keys()) if (!worker.isAlive()) shares.delete(worker);
  };

  const sample = () => {
    const elapsed = performance.now() - sampledAt;
    if (elapsed < SAMPLE_MILLISECONDS) return;
    sampledAt += elapsed;
    const taken = processorTime() - takenBefore;
    takenBefore += taken;
    let sum = takeOwnUtilization();
    isThisThreadBusy = sum >= BUSY_SHARE;
    forgetEnded();
    for (const worker of shares.keys()) {
      const share = loading.has(worker) ? LOADING_SHARE : worker.takeUtilization();
      shares.set(worker, share);
      sum += share;
    }
    areProcessorsBusy = sum >= ALL_BUSY_SHARE * processors || taken >= ALL_TAKEN_SHARE * processors * elapsed;
  };

  return {
    watch(worker) {
      shares.set(worker, LOADING_SHARE);
      loading.add(worker);
      void worker.ready.then(() => {
        loading.delete(worker);
        // Its share is of the time from here on.
        worker.takeUtilization();
      });
    },
    hasRoomBeside(workers) {
      sample();
      if (isThisThreadBusy) return false;
      if (!areProcessorsBusy && workers.size < processors) return true;
      const most = areProcessorsBusy ? IDLE_SHARE : COMPUTING_SHARE;
      const waiting = [...workers].filter((worker) => (shares.get(worker) ?? 0) < most);
      return waiting.length * 2 > workers.size;
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
