import type { Branch } from './branch.ts';
import { checkDataSize, TaskError } from './errors.ts';

/** A Map state in distributed mode: its item processor runs as an execution of its own for each item. */
export interface DistributedMap {
  /** In the ARNs of its executions, after the name of the state machine. */
  label: string;
  /** Executions at once. */
  maxConcurrency: number;
  /** The Map fails once a larger share of its executions has failed. */
  toleratedFailurePercentage: number;
}

/** An execution of an item. */
export interface ItemExecution {
  /** Its end; `output` is JSON text. */
  ended: Promise<{ status: 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED'; output?: string }>;
  stop(): void;
}

type Json = Record<string, unknown>;

/** Step Functions runs 10,000 at once where `MaxConcurrency` is 0 or absent. One machine runs fewer. */
const DEFAULT_CONCURRENCY = 100;
/** https://docs.aws.amazon.com/step-functions/latest/dg/state-map-distributed.html#map-state-distributed-additional-fields */
const LABEL = /^[\w.-]{1,40}$/;

const numberIn = (state: Json, field: string, max: number): number | undefined => {
  const value = state[field];
  if (value === undefined) return undefined;
  if (typeof value === 'number' && value >= 0 && value <= max) return value;
  throw new Error(`${field} must be a number from 0 to ${max}`);
};

/** Reads a Map state; undefined when it is an inline one. Throws for what cannot run locally. */
export const readDistributedMap = (name: string, state: Json): DistributedMap | undefined => {
  const { ProcessorConfig } = (state.ItemProcessor ?? {}) as { ProcessorConfig?: Json };
  if (ProcessorConfig?.Mode !== 'DISTRIBUTED') return undefined;
  if (ProcessorConfig.ExecutionType !== 'STANDARD') {
    throw new Error(`a distributed Map of ${ProcessorConfig.ExecutionType} executions cannot be run locally`);
  }
  const { Label: label = name.replace(/\W+/g, '').slice(0, 40) } = state;
  if (typeof label !== 'string' || !LABEL.test(label)) throw new Error(`${label} is no label of a Map`);
  return {
    label,
    maxConcurrency: numberIn(state, 'MaxConcurrency', Number.MAX_SAFE_INTEGER) || DEFAULT_CONCURRENCY,
    toleratedFailurePercentage: numberIn(state, 'ToleratedFailurePercentage', 100) ?? 0,
  };
};

const threshold = () =>
  new TaskError(
    'States.ExceedToleratedFailureThreshold',
    'The specified tolerated failure threshold was exceeded',
  );

/**
 * Runs an execution for each item and returns the outputs of those that succeeded, in the order of the items. Rejects with
 * `States.ExceedToleratedFailureThreshold` when too many fail, and stops the others then and when `branch` is stopped.
 */
export const runItems = async (
  map: DistributedMap,
  items: readonly unknown[],
  start: (input: string) => ItemExecution,
  branch: Branch,
): Promise<unknown[]> => {
  for (const item of items) checkDataSize(item, map.label);
  const outputs = new Map<number, unknown>();
  const running = new Set<ItemExecution>();
  const waiting = items.entries();
  let failed = 0;
  const isOver = () => branch.isStopped || (failed * 100) / items.length > map.toleratedFailurePercentage;
  const stopAll = () => {
    for (const execution of running) execution.stop();
  };
  const keep = branch.onStop(stopAll);

  const runOn = async (): Promise<void> => {
    for (const [index, item] of waiting) {
      if (isOver()) return;
      const execution = start(JSON.stringify(item));
      running.add(execution);
      const { status, output } = await execution.ended;
      running.delete(execution);
      if (status === 'SUCCEEDED') outputs.set(index, JSON.parse(output ?? 'null'));
      else failed += 1;
      if (isOver()) stopAll();
    }
  };
  await Promise.all(Array.from({ length: Math.min(map.maxConcurrency, items.length) }, runOn));
  keep();
  if (isOver()) throw threshold();
  return items.flatMap((_, index) => (outputs.has(index) ? [outputs.get(index)] : []));
};
