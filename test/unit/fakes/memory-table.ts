import {
  type AttributeValue,
  type CancellationReason,
  ConditionalCheckFailedException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  type BatchGetCommandInput,
  BatchWriteCommand,
  type BatchWriteCommandInput,
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  type PutCommandInput,
  QueryCommand,
  type QueryCommandInput,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { evaluate, type Item } from './expressions.ts';
import { needConsistency, query } from './memory-query.ts';
import { serveCommands } from './serve-commands.ts';

interface Key {
  PK: string;
  SK: string;
}
type Write = Partial<Omit<UpdateCommandInput & PutCommandInput, 'Key' | 'ReturnValues'>> & {
  Key?: Record<string, unknown> | undefined;
};
interface Effect {
  key: string;
  before: Item;
  after: Item | undefined;
}

const keyText = ({ PK, SK }: Record<string, unknown>): string => `${PK}|${SK}`;
const refused = { message: 'The conditional request failed', $metadata: {} };

/**
 * A table in memory behind a mocked document client. The table evaluates expressions and runs one call at a time: use
 * cases can run repeatedly or concurrently.
 */
export class MemoryTable {
  readonly client;
  readonly transactions: TransactWriteCommandInput[] = [];
  /** Awaited before a transaction is evaluated, to act as another process. Attempts count from 1. */
  beforeTransaction: (attempt: number) => unknown = () => undefined;
  /** Awaited before every call, so that a test can choose the order in which calls are served. */
  beforeCall: () => unknown = () => undefined;
  /** The most items a query returns, as its 1 MB limit would. */
  itemsPerQuery = Number.POSITIVE_INFINITY;
  /** Partition keys of items that no index shows yet. */
  readonly unindexed = new Set<string>();
  /** Runs after a transaction is committed; if it throws, the answer is lost. Attempts count from 1. */
  afterTransaction: (attempt: number) => void = () => undefined;
  private readonly items = new Map<string, Item>();

  constructor(documentClient: DynamoDBDocumentClient) {
    this.client = mockClient(documentClient);
    this.serve();
  }

  /** Clears everything for the next test. */
  reset(): void {
    this.items.clear();
    this.transactions.length = 0;
    this.unindexed.clear();
    this.beforeTransaction = () => undefined;
    this.beforeCall = () => undefined;
    this.itemsPerQuery = Number.POSITIVE_INFINITY;
    this.afterTransaction = () => undefined;
    this.client.reset();
    this.serve();
  }

  put(key: Key, item: object): void {
    this.items.set(keyText({ ...key }), structuredClone({ ...key, ...item }));
  }

  /** Changes attributes of an existing item. */
  patch(key: Key, attributes: object): void {
    const item = this.get(key);
    if (!item) throw new Error(`There is no ${keyText({ ...key })}.`);
    this.put(key, { ...item, ...attributes });
  }

  remove(key: Key): void {
    this.items.delete(keyText({ ...key }));
  }

  get(key: Key): Item | undefined {
    return this.items.get(keyText({ ...key }));
  }

  /** The items of a partition, in the order of their sort keys. */
  partition(PK: string): Item[] {
    return [...this.items.values()]
      .filter((item) => item.PK === PK)
      .sort((a, b) => (String(a.SK) < String(b.SK) ? -1 : 1));
  }

  /** Serves an update, for a test that answers some of them itself. */
  update(input: object): { Attributes?: Item } {
    return this.write(input);
  }

  /** The number of calls by command name. */
  calls(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const call of this.client.calls()) {
      const name = call.args[0].constructor.name;
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  }

  private serve(): void {
    const copy = (item: Item | undefined) => (item ? structuredClone(item) : undefined);
    const paced =
      <Input, Output>(answer: (input: Input) => Output | Promise<Output>) =>
      async (input: Input): Promise<Output> => {
        await this.beforeCall();
        return answer(input);
      };
    serveCommands(this.client, [
      [
        GetCommand,
        paced(({ Key, ConsistentRead }: { Key: Key; ConsistentRead?: boolean }) => {
          needConsistency(ConsistentRead);
          return { Item: copy(this.items.get(keyText({ ...Key }))) };
        }),
      ],
      [BatchGetCommand, paced((input: BatchGetCommandInput) => this.batchGet(input))],
      [PutCommand, paced((input: Write) => this.write(input))],
      [UpdateCommand, paced((input: Write) => this.write(input))],
      [DeleteCommand, paced((input: Write) => this.delete(input))],
      [BatchWriteCommand, paced((input: BatchWriteCommandInput) => this.batchWrite(input))],
      [
        QueryCommand,
        paced((input: QueryCommandInput) => query(this.shownTo(input), input, this.itemsPerQuery)),
      ],
      [TransactWriteCommand, paced((input: TransactWriteCommandInput) => this.transact(input))],
    ]);
  }

  /** The items a query can see: an index lags behind the table. */
  private shownTo({ IndexName }: QueryCommandInput): Item[] {
    const items = [...this.items.values()];
    return IndexName === undefined ? items : items.filter(({ PK }) => !this.unindexed.has(String(PK)));
  }

  private batchGet({ RequestItems }: BatchGetCommandInput) {
    const [[name, read]] = Object.entries(RequestItems ?? {}) as [
      [string, { Keys: Key[]; ProjectionExpression?: string; ExpressionAttributeNames?: Item }],
    ];
    const { Keys, ProjectionExpression, ExpressionAttributeNames: names = {} } = read;
    refuseRepeated(Keys, 100);
    const wanted = ProjectionExpression?.split(',').map((attribute) => names[attribute]);
    const isWanted = ([attribute]: [string, unknown]) => wanted?.includes(attribute) ?? true;
    const found = Keys.flatMap((key) => {
      const item = this.get(key);
      return item ? structuredClone(Object.fromEntries(Object.entries(item).filter(isWanted))) : [];
    });
    return { Responses: { [name]: found.reverse() }, UnprocessedKeys: {} };
  }

  private batchWrite({ RequestItems }: BatchWriteCommandInput) {
    const [writes = []] = Object.values(RequestItems ?? {});
    const keys = writes.map(({ DeleteRequest }) => DeleteRequest?.Key as unknown as Key);
    refuseRepeated(keys, 25);
    for (const key of keys) this.remove(key);
    return { UnprocessedItems: {} };
  }

  private effectOf(write: Write): Effect {
    const key = keyText(write.Key ?? write.Item ?? {});
    const before = this.items.get(key) ?? {};
    const after = evaluate(
      before,
      { condition: write.ConditionExpression, update: write.UpdateExpression },
      { names: write.ExpressionAttributeNames, values: write.ExpressionAttributeValues },
    );
    return { key, before, after: after && { ...(write.Item ?? { ...after, ...write.Key }) } };
  }

  private apply({ key, after }: Effect): void {
    // Drops undefined values, as the client does with `removeUndefinedValues`.
    if (after) this.items.set(key, JSON.parse(JSON.stringify(after)));
  }

  private write(input: Write & { ReturnValues?: unknown }): { Attributes?: Item } {
    const effect = this.effectOf(input);
    if (!effect.after) throw new ConditionalCheckFailedException({ ...refused, ...itemOf(input, effect) });
    this.apply(effect);
    return input.ReturnValues === 'ALL_NEW' ? { Attributes: structuredClone(effect.after) } : {};
  }

  /** Serves a deletion, as `update` serves an update. */
  delete(input: Write): Record<string, never> {
    const effect = this.effectOf(input);
    if (!effect.after) throw new ConditionalCheckFailedException({ ...refused, ...itemOf(input, effect) });
    this.items.delete(effect.key);
    return {};
  }

  private async transact(input: TransactWriteCommandInput): Promise<Record<string, never>> {
    this.transactions.push(input);
    const attempt = this.transactions.length;
    await this.beforeTransaction(attempt);
    const items = input.TransactItems ?? [];
    const writes = items.map(
      (item) => (item.Put ?? item.Update ?? item.Delete ?? item.ConditionCheck ?? {}) as Write,
    );
    const effects = writes.map((write) => this.effectOf(write));
    refuseRepeated(
      writes.map((write) => write.Key ?? write.Item ?? {}),
      100,
    );
    if (effects.some(({ after }) => !after)) {
      const CancellationReasons: CancellationReason[] = effects.map((effect, index) =>
        effect.after
          ? { Code: 'None' }
          : { Code: 'ConditionalCheckFailed', ...itemOf(writes[index] ?? {}, effect) },
      );
      throw new TransactionCanceledException({ ...refused, CancellationReasons });
    }
    effects.forEach((effect, index) => {
      if (items[index]?.ConditionCheck) return;
      if (items[index]?.Delete) this.items.delete(effect.key);
      else this.apply(effect);
    });
    this.afterTransaction(attempt);
    return {};
  }
}

/** Throws unless there are 1 to `most` keys, each once, as DynamoDB requires of one call. */
const refuseRepeated = (keys: readonly object[], most: number): void => {
  const different = new Set(keys.map((key) => keyText({ ...key }))).size;
  if (different < keys.length) throw new Error('One call names an item more than once.');
  if (keys.length === 0 || keys.length > most) throw new Error(`One call names 1 to ${most} items.`);
};

const itemOf = (write: Write, { before }: Effect): { Item?: Record<string, AttributeValue> } =>
  write.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' && Object.keys(before).length > 0
    ? { Item: marshall(before, { removeUndefinedValues: true }) }
    : {};
