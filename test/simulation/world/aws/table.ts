import {
  type CancellationReason,
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactionConflictException,
  TransactionInProgressException,
} from '@aws-sdk/client-dynamodb';
import type { QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { PRIMARY_KEY, TTL_ATTRIBUTE } from '../../../../core/table/keys.ts';
import { evaluate, type Item } from '../../../unit/fakes/expressions.ts';
import { query } from '../../../unit/fakes/memory-query.ts';
import type { Random } from '../engine/random.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import { Indexes, keyText } from './indexes.ts';

/** A write to one item, as the document client words it. */
export interface Write {
  kind: 'Put' | 'Update' | 'Delete' | 'ConditionCheck';
  Key?: Item;
  Item?: Item;
  ConditionExpression?: string;
  UpdateExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Item;
  ReturnValues?: string;
  ReturnValuesOnConditionCheckFailure?: string;
}

/** Tells of each change of an item, in the order in which they happen. */
export type Witness = (key: string, before: Item | undefined, after: Item | undefined) => void;

/**
 * The time for which a transaction holds its items, from arrival to commit. An assumption, long for a few items
 * within a region. DynamoDB publishes no figure.
 */
export const TRANSACTION_MS = 8;
/** How far an index is behind, and how far now and then: DynamoDB says "a fraction of a second" under normal conditions. */
const INDEX_DELAY_MS = [1, 300] as const;
const LONGEST_INDEX_DELAY_MS = 15_000;
const LONG_INDEX_DELAY_MS = [1_000, LONGEST_INDEX_DELAY_MS] as const;
const LONG_INDEX_DELAY_SHARE = 0.04;
/** The number of items in a page of a query; small, so that queries have several pages. */
const ITEMS_PER_QUERY = 100;

const meta = { $metadata: {} };

/**
 * A table with DynamoDB's conflicts: a transaction holds its items for a while, and every concurrent write to a held
 * item is refused. Reads of single items are strongly consistent, indexes follow later. Every instant is that of the
 * scheduler; nothing here waits for the network.
 */
export class Table {
  readonly items = new Map<string, Item>();
  readonly witnesses: Witness[] = [];
  /** How much further than ever the indexes are behind with an item of this partition, in milliseconds. */
  indexLagMs: (partition: string) => number = () => 0;
  /** The share of writes that an index shows seconds late, without an outage. */
  lateIndexShare = LONG_INDEX_DELAY_SHARE;
  /** Told when an index will show a change later than it does without such a lag. */
  onLateIndex: ((shownAt: number) => void) | undefined;
  private readonly partitions = new Map<string, Map<string, Item>>();
  /** How often an item of a partition was changed. */
  private readonly changes = new Map<string, number>();
  private readonly indexes = new Indexes();
  private readonly held = new Set<string>();
  private readonly tokens = new Map<object, 'running' | 'done'>();
  private readonly scheduler: Scheduler;
  private readonly random: Random;

  constructor(scheduler: Scheduler, random: Random) {
    this.scheduler = scheduler;
    this.random = random;
  }

  get(key: Item): Item | undefined {
    return this.items.get(keyText(key));
  }

  /** A single write. Throws as DynamoDB does when its condition is refused or a transaction holds its item. */
  write(write: Write): { Attributes?: Item } {
    const effect = this.judge(write);
    if (this.held.has(effect.key)) throw this.conflict();
    if (!effect.holds)
      throw new ConditionalCheckFailedException({ ...refused, ...refusedItem(write, effect) });
    this.change(effect.key, effect.after);
    if (write.ReturnValues === 'ALL_NEW' && effect.after) return { Attributes: effect.after };
    return {};
  }

  /** All writes or none. `token` names the transaction: repeated under it, a committed one is not done again. */
  async transact(writes: readonly Write[], token: object): Promise<Record<string, never>> {
    const state = this.tokens.get(token);
    if (state === 'done') return {};
    if (state === 'running') throw this.inProgress();
    const effects = writes.map((write) => this.judge(write));
    if (new Set(effects.map(({ key }) => key)).size < effects.length) {
      throw new Error('A transaction names an item more than once.');
    }
    const reasons = effects.map((effect, index): CancellationReason => {
      if (this.held.has(effect.key)) return { Code: 'TransactionConflict' };
      const item = refusedItem(writes[index] as Write, effect);
      return effect.holds ? { Code: 'None' } : { Code: 'ConditionalCheckFailed', ...item };
    });
    if (reasons.some(({ Code }) => Code !== 'None')) throw this.cancelled(reasons);
    this.tokens.set(token, 'running');
    for (const { key } of effects) this.held.add(key);
    await this.scheduler.sleep(TRANSACTION_MS);
    for (const { key } of effects) this.held.delete(key);
    this.tokens.set(token, 'done');
    for (const [index, { key, after }] of effects.entries()) {
      if (writes[index]?.kind !== 'ConditionCheck') this.change(key, after);
    }
    return {};
  }

  query(input: QueryCommandInput): ReturnType<typeof query> {
    const attribute = partitionAttribute(input);
    const partition = partitionValue(input);
    const isTable = input.IndexName === undefined;
    const candidates = isTable
      ? [...(this.partitions.get(String(partition))?.values() ?? [])]
      : this.indexes.partition(attribute, partition, this.scheduler.now);
    return query(candidates, input, ITEMS_PER_QUERY);
  }

  /** How often the items of the partition that a query reads were changed so far. */
  changesIn(input: QueryCommandInput): number {
    return this.changes.get(String(partitionValue(input))) ?? 0;
  }

  /** From when on the indexes show an item at all, in epoch milliseconds; undefined when they never do. */
  shownFrom(key: Item): number | undefined {
    return this.indexes.shownFrom(keyText(key));
  }

  /** Removes whatever is past its time, as DynamoDB does some time later. */
  sweep(): number {
    const nowSeconds = this.scheduler.now / 1000;
    const past = [...this.items].filter(([key, item]) => {
      const ttl = item[TTL_ATTRIBUTE];
      return typeof ttl === 'number' && ttl < nowSeconds && !this.held.has(key);
    });
    for (const [key] of past) this.change(key, undefined);
    return past.length;
  }

  /** The error of a transaction that is sent again while it is under way. */
  inProgress(): Error {
    return new TransactionInProgressException({ message: 'In progress', ...meta });
  }

  /** The error of a single write that meets a transaction. */
  conflict(): Error {
    return new TransactionConflictException({ message: 'Transaction is ongoing for the item', ...meta });
  }

  /** The error of a transaction of so many writes that meets another write. */
  conflictOf(writes: number): Error {
    return this.cancelled(
      Array.from({ length: writes }, (_, index) => ({ Code: index === 0 ? 'TransactionConflict' : 'None' })),
    );
  }

  /** The error of a transaction of so many writes that the table is too busy for: the SDK does not try it again. */
  throttledIn(writes: number): Error {
    return this.cancelled(Array.from({ length: writes }, () => ({ Code: 'ThrottlingError' })));
  }

  private cancelled(CancellationReasons: CancellationReason[]): Error {
    const codes = CancellationReasons.map(({ Code }) => Code).join(', ');
    const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`;
    return new TransactionCanceledException({ message, CancellationReasons, ...meta });
  }

  private judge(write: Write): Effect {
    const address = write.Key ?? write.Item ?? {};
    const key = keyText(address);
    const before = this.items.get(key);
    const result = evaluate(
      before ?? {},
      { condition: write.ConditionExpression, update: write.UpdateExpression },
      { names: write.ExpressionAttributeNames, values: write.ExpressionAttributeValues },
    );
    const put = write.kind === 'Put' ? write.Item : { ...result, ...write.Key };
    const after = write.kind === 'Delete' || result === undefined ? undefined : (stored(put) as Item);
    return { key, before, after, holds: result !== undefined };
  }

  private change(key: string, after: Item | undefined): void {
    const before = this.items.get(key);
    const [PK, SK] = [(after ?? before)?.[PRIMARY_KEY.partition], (after ?? before)?.[PRIMARY_KEY.sort]];
    const partition = this.partitions.get(String(PK)) ?? new Map<string, Item>();
    this.partitions.set(String(PK), partition);
    this.changes.set(String(PK), (this.changes.get(String(PK)) ?? 0) + 1);
    if (after) {
      this.items.set(key, after);
      partition.set(String(SK), after);
    } else {
      this.items.delete(key);
      partition.delete(String(SK));
    }
    const { now } = this.scheduler;
    const delayMs = this.random.whole(...this.indexDelayMs()) + this.indexLagMs(String(PK));
    const shownAt = this.indexes.write(key, after, now + delayMs);
    if (shownAt !== undefined && shownAt > now + LONGEST_INDEX_DELAY_MS) this.onLateIndex?.(shownAt);
    for (const witness of this.witnesses) witness(key, before, after);
  }

  private indexDelayMs(): readonly [number, number] {
    return this.random.next() < this.lateIndexShare ? LONG_INDEX_DELAY_MS : INDEX_DELAY_MS;
  }
}

interface Effect {
  key: string;
  before: Item | undefined;
  after: Item | undefined;
  holds: boolean;
}

const refused = { message: 'The conditional request failed', ...meta };

const refusedItem = (write: Write, { before }: Effect) =>
  write.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' && before ? { Item: marshall(before) } : {};

/** A value as the table keeps it, frozen, without what is undefined. Throws for what DynamoDB has no type for. */
const stored = (value: unknown): unknown => {
  if (Array.isArray(value)) return Object.freeze(value.map(stored));
  if (typeof value === 'object' && value !== null) {
    if (Object.getPrototypeOf(value) !== Object.prototype) throw new Error(`${value} is no plain object.`);
    const kept = Object.entries(value).filter(([, nested]) => nested !== undefined);
    return Object.freeze(Object.fromEntries(kept.map(([name, nested]) => [name, stored(nested)])));
  }
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`${value} is no number.`);
  return value;
};

const PARTITION = /^\s*([#\w]+)\s*=\s*(:\w+)/;

const partitionAttribute = ({ KeyConditionExpression = '', ExpressionAttributeNames }: QueryCommandInput) => {
  const name = PARTITION.exec(KeyConditionExpression)?.[1] ?? '';
  return ExpressionAttributeNames?.[name] ?? name;
};

const partitionValue = ({ KeyConditionExpression = '', ExpressionAttributeValues }: QueryCommandInput) =>
  ExpressionAttributeValues?.[PARTITION.exec(KeyConditionExpression)?.[2] ?? ''];
