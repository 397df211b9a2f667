import {
  type CancellationReason,
  ConditionalCheckFailedException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import {
  type DeleteCommand,
  GetCommand,
  PutCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  type UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { RateLimitedError } from '../errors.ts';
import {
  CALLER_PATIENCE,
  MAX_CONTENDED_ATTEMPTS,
  type Patience,
  waitForItem,
  waitForTable,
  wasTriedBefore,
} from './retries.ts';
import { type StoredItem, table } from './table.ts';

export type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** Writes of the caller that commit in the same transaction as a change, or not at all. */
export type ExtraWrites = readonly TransactItem[];

/** The refusal of a transaction by one of its writes. `item` is the stored item if the write asks for it. */
export interface Refusal {
  code: string;
  item: StoredItem | undefined;
}

/** Whether the condition of a write refused the transaction. */
export const isRefused = (refusal: Refusal | undefined): boolean =>
  refusal?.code === 'ConditionalCheckFailed';

/** Whether the condition of the write at `index` refused the transaction. */
export const refusedBy = (refusals: readonly Refusal[], index: number): boolean => isRefused(refusals[index]);

/** Whether another transaction held the item of a write, and so has changed the item by now. */
export const isHeldByOther = (refusal: Refusal | undefined): boolean =>
  refusal?.code === 'TransactionConflict';

/**
 * Writes all items or none. Calls `plan` before each attempt, with the refusals of the last attempt and the stored items in them.
 * `plan` stops the transaction by throwing, or by returning no writes when the change is in place already.
 *
 * The SDK retries neither conflicts nor cancellations. A refused condition is retried at once, other refusals after a wait with
 * full jitter, as long as `patience` allows. Throws `RateLimitedError` after that time or 240 attempts: the caller may try again,
 * and nothing was written unless `leavesOutcomeOpen` says so.
 */
export const transact = async (
  plan: (refusals: readonly Refusal[]) => Promise<TransactItem[]> | TransactItem[],
  patience: Patience = CALLER_PATIENCE,
): Promise<void> => {
  let refusals: readonly Refusal[] = [];
  await whileContended(
    async () => {
      const items = await plan(refusals);
      if (items.length > 0) await table.send(new TransactWriteCommand({ TransactItems: items }));
    },
    async (error, attempt, elapsedMs) => {
      refusals = refusalsOf(error);
      if (refusals.some(({ code }) => BUSY_TABLE.has(code))) await waitForTable(attempt);
      // Another write went through, and the item it returned only gets older.
      else if (!refusals.some(({ code }) => code === 'ConditionalCheckFailed'))
        await waitForItem(patience, attempt + 1, elapsedMs);
    },
    patience,
  );
};

/** The writes of a transaction by the name of what they write, in their order. A name may have several writes, or none. */
export type NamedWrites<Name extends string> = Record<Name, readonly TransactItem[]>;

/** The refusals of the last attempt by the names of their writes, each list in the order of the writes. Empty before the first attempt. */
export type NamedRefusals<Name extends string> = Partial<Record<Name, readonly Refusal[]>>;

/** As `transact`, with a plan that names its writes and finds the refusals under these names. A plan without writes is undefined. */
export const transactNamed = async <Name extends string>(
  plan: (refusals: NamedRefusals<Name>) => Promise<NamedWrites<Name> | undefined>,
  patience?: Patience,
): Promise<void> => {
  let planned: [string, readonly TransactItem[]][] = [];
  await transact(async (refusals) => {
    let first = 0;
    const named = planned.map(([name, writes]) => {
      const end = first + writes.length;
      const own = refusals.slice(first, end);
      first = end;
      return [name, own];
    });
    planned = Object.entries((await plan(Object.fromEntries(named))) ?? {});
    return planned.flatMap(([, writes]) => writes);
  }, patience);
};

/**
 * Writes one item that transactions also write, and retries while a transaction holds the item, which the SDK does not do. Throws
 * what the write itself throws, and `RateLimitedError` after 5 s or 240 attempts.
 */
export const writeItem = async (
  command: PutCommand | UpdateCommand | DeleteCommand,
): Promise<{ Attributes?: StoredItem | undefined }> =>
  whileContended(
    // The client's overloads take the three commands one by one; their answers are alike.
    () => table.send(command as UpdateCommand),
    async (error, attempt, elapsedMs) => {
      if (!(error instanceof Error) || !RETRYABLE_ERRORS.has(error.name)) throw error;
      await waitForItem(CALLER_PATIENCE, attempt + 1, elapsedMs);
    },
    CALLER_PATIENCE,
  );

/**
 * The outcome of a conditional write: done, with the returned attributes, or refused, with the stored item if the command asks
 * for it.
 */
type ConditionalOutcome = { done: true; item: StoredItem } | { done: false; item: StoredItem | undefined };

/** As `writeItem`, but a refusal by the write's own condition is a result, not an error. */
export const writeOnCondition = async (
  command: PutCommand | UpdateCommand | DeleteCommand,
): Promise<ConditionalOutcome> => {
  try {
    const { Attributes = {} } = await writeItem(command);
    return { done: true, item: Attributes };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return { done: false, item: error.Item && unmarshall(error.Item) };
  }
};

/**
 * As `writeOnCondition`, in one transaction with the `extraWrites`. A transaction returns no attributes: they are read after it, strongly
 * consistent.
 */
export const writeBeside = async (
  command: PutCommand | UpdateCommand,
  extraWrites: ExtraWrites,
): Promise<ConditionalOutcome> => {
  if (extraWrites.length === 0) return writeOnCondition(command);
  let refusal: Refusal | undefined;
  await transact((refusals) => {
    refusal = refusedBy(refusals, 0) ? refusals[0] : undefined;
    return refusal ? [] : [transactItemOf(command), ...extraWrites];
  });
  if (refusal) return { done: false, item: refusal.item };
  const { TableName } = command.input;
  const { Item = {} } = await table.send(
    new GetCommand({ TableName, Key: writtenKey(command), ConsistentRead: true }),
  );
  return { done: true, item: Item };
};

const transactItemOf = (command: PutCommand | UpdateCommand): TransactItem => {
  const { ReturnValues: _, ...write } = command.input;
  return command instanceof PutCommand
    ? { Put: write as NonNullable<TransactItem['Put']> }
    : { Update: write as NonNullable<TransactItem['Update']> };
};

const writtenKey = (command: PutCommand | UpdateCommand): StoredItem | undefined => {
  if (!(command instanceof PutCommand)) return command.input.Key;
  const { PK, SK } = command.input.Item ?? {};
  return { PK, SK };
};

/** As `writeOnCondition`; whether the write was made. */
export const writeUnlessRefused = async (
  command: PutCommand | UpdateCommand | DeleteCommand,
): Promise<boolean> => (await writeOnCondition(command)).done;

/**
 * Repeats a write until it succeeds. `recover` waits before the next attempt, or throws an error that another
 * attempt cannot cure. Throws `RateLimitedError` when the patience or 240 attempts are used up. Its cause is
 * the first error that leaves open whether the write was made, else the last error.
 */
const whileContended = async <T>(
  write: () => Promise<T>,
  recover: (error: unknown, attempt: number, elapsedMs: number) => Promise<void>,
  { budgetMs }: Patience,
): Promise<T> => {
  let [last, open]: unknown[] = [];
  const startedAtMs = Date.now();
  const elapsedMs = (): number => Date.now() - startedAtMs;
  for (let attempt = 0; attempt < MAX_CONTENDED_ATTEMPTS && elapsedMs() < budgetMs; attempt++) {
    try {
      return await write();
    } catch (error) {
      last = error;
      if (wasTriedBefore(error)) open ??= error;
      await recover(error, attempt, elapsedMs());
    }
  }
  throw new RateLimitedError(1, open ?? last);
};

/** Cancellation reasons that a new plan or a wait can cure; any other is a bug or a wrong set-up. */
const RETRYABLE_REASONS = new Set([
  'None',
  'ConditionalCheckFailed',
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]);
const RETRYABLE_ERRORS = new Set(['TransactionConflictException', 'TransactionInProgressException']);

/** Cancellation reasons that mean the table is too busy, not the item. */
const BUSY_TABLE = new Set(['ThrottlingError', 'ProvisionedThroughputExceeded']);

/** The refusals of a failed transaction; none when the conflict is reported as a whole. Rethrows any other error. */
const refusalsOf = (error: unknown): Refusal[] => {
  if (error instanceof TransactionCanceledException) {
    const refusals = (error.CancellationReasons ?? []).map(toRefusal);
    if (refusals.every(({ code }) => RETRYABLE_REASONS.has(code))) return refusals;
  }
  if (error instanceof Error && RETRYABLE_ERRORS.has(error.name)) return [];
  throw error;
};

const toRefusal = (reason: CancellationReason): Refusal => ({
  code: reason.Code ?? 'None',
  item: reason.Item ? unmarshall(reason.Item) : undefined,
});
