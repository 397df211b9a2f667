import type { QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import {
  LISTING_ATTRIBUTES,
  LISTING_INDEX,
  PRIMARY_KEY,
  REQUEST_INDEX_ATTRIBUTES,
  REQUEST_INDEXES,
} from '../../../core/table/keys.ts';
import { evaluate, type Item, type Placeholders } from './expressions.ts';

/** A query's result; it has a `LastEvaluatedKey` unless the query reached the end, and no items when only their count is selected. */
export interface QueryAnswer {
  Items?: Item[];
  Count: number;
  ScannedCount: number;
  LastEvaluatedKey?: Item;
}

interface Index {
  partition: string;
  sort: string;
  /** The projected attributes besides the keys; undefined for all. */
  attributes: readonly string[] | undefined;
}

/** The table's primary key and its indexes, as the infrastructure declares them. */
const TABLE: Index = { ...PRIMARY_KEY, attributes: undefined };
const INDEXES: ReadonlyMap<string, Index> = new Map<string, Index>([
  [LISTING_INDEX.name, { ...LISTING_INDEX, attributes: LISTING_ATTRIBUTES }],
  ...Object.values(REQUEST_INDEXES).map(
    ({ name, partition }) =>
      [name, { partition, sort: PRIMARY_KEY.partition, attributes: REQUEST_INDEX_ATTRIBUTES }] as const,
  ),
]);

/** Throws unless a read of the table states its consistency: the default may miss the latest writes. */
export const needConsistency = (ConsistentRead: boolean | undefined): void => {
  if (ConsistentRead === undefined) throw new Error('A read of the table says whether it is consistent.');
};

const indexOf = ({ IndexName, ConsistentRead }: QueryCommandInput): Index => {
  if (IndexName === undefined) {
    needConsistency(ConsistentRead);
    return TABLE;
  }
  const index = INDEXES.get(IndexName);
  if (!index) throw new Error(`There is no index ${IndexName}.`);
  if (ConsistentRead) throw new Error('An index is never read consistently.');
  return index;
};

/** The partition a query names. Every key condition begins with it, so the rest is judged for its items alone. */
const partitionIn = ({ KeyConditionExpression = '', ExpressionAttributeValues = {} }: QueryCommandInput) => {
  const name = /^\S+ = (:\w+)/.exec(KeyConditionExpression)?.[1];
  if (name === undefined) throw new Error(`Not a key condition: ${KeyConditionExpression}`);
  return ExpressionAttributeValues[name];
};

/** What is found in an expression, by its text: there are few, and they are read again and again. */
const remembered = (pattern: RegExp): ((text: string) => ReadonlySet<string>) => {
  const known = new Map<string, ReadonlySet<string>>();
  return (text) => {
    const found = known.get(text) ?? new Set(text.match(pattern));
    known.set(text, found);
    return found;
  };
};
const placeholdersOf = remembered(/[#:]\w+/g);
const attributesOf = remembered(/(?<![:\w])#?\w+/g);

/** The placeholders that an expression has. All are given together, for the key condition and the filter. */
const placeholdersIn = (
  expression: string,
  { ExpressionAttributeNames = {}, ExpressionAttributeValues = {} }: QueryCommandInput,
): Placeholders => {
  const used = placeholdersOf(expression);
  const pick = <Value>(given: Record<string, Value>) =>
    Object.fromEntries(Object.entries(given).filter(([name]) => used.has(name)));
  return { names: pick(ExpressionAttributeNames), values: pick(ExpressionAttributeValues) };
};

/** Refuses placeholders that no expression has, and a filter by a key of what is queried, as DynamoDB does. */
const checkFilter = (input: QueryCommandInput, { partition, sort }: Index): void => {
  const { KeyConditionExpression = '', FilterExpression = '', ProjectionExpression = '' } = input;
  const { ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} } = input;
  const used = placeholdersOf(`${KeyConditionExpression} ${FilterExpression} ${ProjectionExpression}`);
  const unused = [...Object.keys(names), ...Object.keys(values)].filter((name) => !used.has(name));
  if (unused.length > 0) throw new Error(`Given but not used: ${unused.join(', ')}`);
  const attributes = [...attributesOf(FilterExpression)].map((name) => names[name] ?? name);
  const key = attributes.find((name) => name === partition || name === sort);
  if (key !== undefined) throw new Error(`A filter of a query cannot have the key ${key}.`);
};

/** The attributes of an item that the index projects. */
const projected = (item: Item, { partition, sort, attributes }: Index): Item => {
  if (!attributes) return structuredClone(item);
  const held = new Set([PRIMARY_KEY.partition, PRIMARY_KEY.sort, partition, sort, ...attributes]);
  return Object.fromEntries(Object.entries(structuredClone(item)).filter(([name]) => held.has(name)));
};

/** The attributes of an item that the query asks for. */
const askedFor = (
  item: Item,
  { ProjectionExpression, ExpressionAttributeNames: names = {} }: QueryCommandInput,
): Item => {
  if (ProjectionExpression === undefined) return item;
  const asked = new Set(ProjectionExpression.split(/, ?/).map((name) => names[name] ?? name));
  return Object.fromEntries(Object.entries(item).filter(([name]) => asked.has(name)));
};

/**
 * Runs a DynamoDB Query on these items. An index holds only items with its keys, and only their projected attributes. A
 * page ends at `Limit` or after `itemsPerQuery` items, those that the filter drops included.
 */
export const query = (
  items: readonly Item[],
  input: QueryCommandInput,
  itemsPerQuery: number,
): QueryAnswer => {
  const index = indexOf(input);
  checkFilter(input, index);
  const judge = (condition: string | undefined): ((item: Item) => boolean) => {
    if (condition === undefined) return () => true;
    const placeholders = placeholdersIn(condition, input);
    return (item) => evaluate(item, { condition }, placeholders) !== undefined;
  };
  const place = (item: Item): string =>
    [index.sort, PRIMARY_KEY.partition, PRIMARY_KEY.sort].map((name) => String(item[name])).join('\0');
  const direction = input.ScanIndexForward === false ? -1 : 1;
  const compare = (a: Item, b: Item): number => {
    const [left, right] = [place(a), place(b)];
    return left === right ? 0 : (left < right ? -1 : 1) * direction;
  };
  const start = input.ExclusiveStartKey;
  const partition = partitionIn(input);
  const matching = items
    .filter((item) => item[index.partition] === partition && item[index.sort] !== undefined)
    .filter(judge(input.KeyConditionExpression))
    .filter((item) => start === undefined || compare(item, start) > 0)
    .sort(compare);
  const most = Math.min(input.Limit ?? Number.POSITIVE_INFINITY, itemsPerQuery);
  const scanned = matching.slice(0, most).map((item) => projected(item, index));
  const last = scanned.length === most ? matching[most - 1] : undefined;
  const keys = { partition: index.partition, sort: index.sort, attributes: [] };
  const Items = scanned.filter(judge(input.FilterExpression)).map((item) => askedFor(item, input));
  return {
    ...(input.Select !== 'COUNT' && { Items }),
    Count: Items.length,
    ScannedCount: scanned.length,
    ...(last && { LastEvaluatedKey: projected(last, keys) }),
  };
};
