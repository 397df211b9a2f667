import { FatalTaskError, MAX_PAYLOAD_BYTES, type Outcome, TaskError } from './types.ts';

/** A Map state in distributed mode: its item processor runs as an execution of its own for each item. */
export interface DistributedMap {
  /** In the ARNs of its executions, after the name of the state machine. */
  label: string;
  /** Executions at once. */
  maxConcurrency: number;
  /** The Map fails once more executions have failed than this. */
  toleratedFailureCount: number;
  toleratedFailurePercentage: number;
}

/** An execution of an item. */
export interface ItemExecution {
  ended: Promise<Outcome>;
  stop(): void;
}

type Json = Record<string, unknown>;

/** Step Functions runs 10,000 at once where `MaxConcurrency` is 0 or absent. One machine runs fewer. */
const DEFAULT_CONCURRENCY = 100;
/** https://docs.aws.amazon.com/step-functions/latest/dg/state-map-distributed.html#map-state-distributed-additional-fields */
const LABEL = /^[\w.-]{1,40}$/;

/** Fields of a distributed Map that the local run has no use for yet: it would not do what is deployed. */
const UNSUPPORTED = [
  'ItemReader',
  'ItemBatcher',
  'ItemSelector',
  'Parameters',
  'ResultWriter',
  'MaxConcurrencyPath',
  'ToleratedFailureCountPath',
  'ToleratedFailurePercentagePath',
];

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
  const unsupported = UNSUPPORTED.find((field) => field in state);
  if (unsupported) throw new Error(`${unsupported} of a distributed Map cannot be run locally`);
  if (ProcessorConfig.ExecutionType !== 'STANDARD') {
    throw new Error(`a distributed Map of ${ProcessorConfig.ExecutionType} executions cannot be run locally`);
  }
  const { Label: label = name.replace(/\W+/g, '').slice(0, 40) } = state;
  if (typeof label !== 'string' || !LABEL.test(label)) throw new Error(`${label} is no label of a Map`);
  const count = numberIn(state, 'ToleratedFailureCount', Number.MAX_SAFE_INTEGER);
  const percentage = numberIn(state, 'ToleratedFailurePercentage', 100);
  // The one that is not given does not limit the other.
  const other = count === undefined && percentage === undefined ? 0 : Number.POSITIVE_INFINITY;
  return {
    label,
    maxConcurrency: numberIn(state, 'MaxConcurrency', Number.MAX_SAFE_INTEGER) || DEFAULT_CONCURRENCY,
    toleratedFailureCount: count ?? other,
    toleratedFailurePercentage: percentage ?? other,
  };
};

/** Makes a Map in distributed mode a task of ours: the interpreter would run its items inline, in the history of the execution. */
export const prepareDistributedMap = ({
  ItemProcessor: _processor,
  ItemsPath,
  MaxConcurrency: _concurrency,
  ToleratedFailureCount: _count,
  ToleratedFailurePercentage: _percentage,
  Label: _label,
  ...rest
}: Json): Json => ({ ...rest, Type: 'Task', Parameters: { 'items.$': ItemsPath ?? '$' } });

const threshold = () =>
  new TaskError(
    'States.ExceedToleratedFailureThreshold',
    'The specified tolerated failure threshold was exceeded',
  );

/**
 * Runs an execution for each item and returns the outputs of those that succeeded, in the order of the items. Rejects with
 * `States.ExceedToleratedFailureThreshold` when too many fail, and stops the others then and when `signal` is aborted.
 */
export const runItems = async (
  map: DistributedMap,
  items: unknown,
  start: (input: string) => ItemExecution,
  signal: AbortSignal,
): Promise<unknown[]> => {
  if (!Array.isArray(items)) throw new FatalTaskError('States.Runtime', 'The items of the Map are no list');
  const inputs = items.map((item: unknown) => JSON.stringify(item));
  if (inputs.some((input) => Buffer.byteLength(input) > MAX_PAYLOAD_BYTES)) {
    throw new FatalTaskError('States.DataLimitExceeded', 'An item exceeds 262144 bytes.');
  }
  const outputs = new Map<number, unknown>();
  const running = new Set<ItemExecution>();
  const waiting = inputs.entries();
  let failed = 0;
  const isOver = () =>
    signal.aborted ||
    failed > map.toleratedFailureCount ||
    (failed * 100) / inputs.length > map.toleratedFailurePercentage;
  const stopAll = () => {
    for (const execution of running) execution.stop();
  };
  signal.addEventListener('abort', stopAll, { once: true });

  const runOn = async (): Promise<void> => {
    for (const [index, input] of waiting) {
      if (isOver()) return;
      const execution = start(input);
      running.add(execution);
      const { status, output } = await execution.ended;
      running.delete(execution);
      if (status === 'SUCCEEDED') outputs.set(index, JSON.parse(output ?? 'null'));
      else failed += 1;
      if (isOver()) stopAll();
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(map.maxConcurrency, inputs.length) }, runOn));
  } finally {
    signal.removeEventListener('abort', stopAll);
  }
  if (isOver()) throw threshold();
  return inputs.flatMap((_, index) => (outputs.has(index) ? [outputs.get(index)] : []));
};
