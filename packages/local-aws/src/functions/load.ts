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

/** The load of `createLoad`, sampled when a pool asks. */
class ThreadLoad implements Load {
  private readonly processors: number;
  private readonly maxThreads: number;
  private readonly takeOwnUtilization: () => number;
  private readonly processorTime: () => number;
  private readonly shares = new Map<FunctionWorker, number>();
  private readonly loading = new Set<FunctionWorker>();
  private readonly pools: (() => boolean)[] = [];
  private sampledAt = performance.now();
  private takenBefore: number;
  private areProcessorsBusy = false;
  private isThisThreadBusy = false;

  constructor(options: LoadOptions = {}) {
    this.processors = options.processors ?? availableParallelism();
    this.maxThreads = options.maxThreads ?? MAX_THREADS;
    this.takeOwnUtilization = options.takeOwnUtilization ?? utilizationOfThisThread;
    this.processorTime = options.processorTime ?? processorTimeOfThisProcess;
    this.takenBefore = this.processorTime();
  }

  watch(worker: FunctionWorker): void {
    this.shares.set(worker, LOADING_SHARE);
    this.loading.add(worker);
    void worker.ready.then(() => {
      this.loading.delete(worker);
      // Its share is of the time from here on.
      worker.takeUtilization();
    });
  }

  hasRoomBeside(workers: ReadonlySet<FunctionWorker>): boolean {
    this.sample();
    if (this.isThisThreadBusy) return false;
    if (!this.areProcessorsBusy && workers.size < this.processors) return true;
    const most = this.areProcessorsBusy ? IDLE_SHARE : COMPUTING_SHARE;
    const waiting = [...workers].filter((worker) => (this.shares.get(worker) ?? 0) < most);
    return waiting.length * 2 > workers.size;
  }

  join(endIdle: () => boolean): void {
    this.pools.push(endIdle);
  }

  makeRoom(): boolean {
    this.forgetEnded();
    return this.shares.size < this.maxThreads || this.pools.some((endIdle) => endIdle());
  }

  private forgetEnded() {
    for (const worker of this.shares.keys()) if (!worker.isAlive()) this.shares.delete(worker);
  }

  private sample() {
    const elapsed = performance.now() - this.sampledAt;
    if (elapsed < SAMPLE_MILLISECONDS) return;
    this.sampledAt += elapsed;
    const taken = this.processorTime() - this.takenBefore;
    this.takenBefore += taken;
    let sum = this.takeOwnUtilization();
    this.isThisThreadBusy = sum >= BUSY_SHARE;
    this.forgetEnded();
    for (const worker of this.shares.keys()) {
      const share = this.loading.has(worker) ? LOADING_SHARE : worker.takeUtilization();
      this.shares.set(worker, share);
      sum += share;
    }
    this.areProcessorsBusy =
      sum >= ALL_BUSY_SHARE * this.processors || taken >= ALL_TAKEN_SHARE * this.processors * elapsed;
  }
}

/** The load of the workers that it is told to watch, and of this thread. */
export const createLoad = (options: LoadOptions = {}): Load => new ThreadLoad(options);
