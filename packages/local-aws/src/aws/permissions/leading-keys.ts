import type { TableSpec } from '../../types.ts';

type Json = Record<string, unknown>;

/** Finds the partition keys that a DynamoDB call names, as in IAM's `dynamodb:LeadingKeys`. */
export interface LeadingKeys {
  /** The partition keys of keys or items of a table. */
  ofItems(table: string, items: unknown[]): string[];
  /** The partition key of a Query on a table or index. */
  ofQuery(request: Json): string[];
  /** The partition key in a key of the table or index that a Query reads. */
  ofKey(request: Json, key: unknown): string;
}

const asObject = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The text of an attribute value (`{ S: '…' }`); empty when there is none. */
const textOf = (value: unknown): string => asText(Object.values(asObject(value))[0]);

interface KeySchema {
  AttributeName: string;
  KeyType: string;
}

const partitionKeyIn = (schema: unknown): string =>
  (schema as KeySchema[]).find(({ KeyType }) => KeyType === 'HASH')?.AttributeName ?? '';

/** `left = right`; each side is a name, a name placeholder (`#a`) or a value placeholder (`:a`). */
const EQUALITY = /([#:]?\w+)\s*=\s*([#:]?\w+)/g;

/** The value that a key condition compares the partition key with. Empty when unknown. */
const queriedKey = (request: Json, partitionKey: string): string => {
  const names = asObject(request.ExpressionAttributeNames);
  const values = asObject(request.ExpressionAttributeValues);
  const isKey = (token: string) => (token.startsWith('#') ? names[token] : token) === partitionKey;
  for (const [, left = '', right = ''] of asText(request.KeyConditionExpression).matchAll(EQUALITY)) {
    if (isKey(left)) return textOf(values[right]);
    if (isKey(right)) return textOf(values[left]);
  }
  return '';
};

/** The partition keys of tables, by name, and of indexes, by `table/index`. */
const partitionKeysOf = (tables: readonly TableSpec[]): Map<string, string> => {
  const partitionKeys = new Map<string, string>();
  for (const { createTable } of tables) {
    const table = asText(createTable.TableName);
    partitionKeys.set(table, partitionKeyIn(createTable.KeySchema));
    for (const kind of ['GlobalSecondaryIndexes', 'LocalSecondaryIndexes']) {
      for (const index of (createTable[kind] ?? []) as Json[]) {
        partitionKeys.set(`${table}/${index.IndexName}`, partitionKeyIn(index.KeySchema));
      }
    }
  }
  return partitionKeys;
};

/** Leading keys for calls on these tables, to which restores may add others. Keys of any other table are empty text. */
export const createLeadingKeys = (tables: readonly TableSpec[]): LeadingKeys => {
  let partitionKeys = partitionKeysOf(tables);
  let known = tables.length;
  const partitionKeyOfName = (name: string): string => {
    if (known !== tables.length) {
      partitionKeys = partitionKeysOf(tables);
      known = tables.length;
    }
    return partitionKeys.get(name) ?? '';
  };
  const nameOf = (nameOrArn: string) => nameOrArn.replace(/^arn:.*:table\//, '');
  const distinct = (keys: string[]) => [...new Set(keys)];
  /** The name of the partition key of a Query's table or index. */
  const partitionKeyOf = (request: Json): string => {
    const table = nameOf(asText(request.TableName));
    const index = asText(request.IndexName);
    return partitionKeyOfName(index ? `${table}/${index}` : table);
  };

  return {
    ofItems: (table, items) => {
      const partitionKey = partitionKeyOfName(nameOf(table));
      return distinct(items.map((item) => textOf(asObject(item)[partitionKey])));
    },
    ofQuery: (request) => [queriedKey(request, partitionKeyOf(request))],
    ofKey: (request, key) => textOf(asObject(key)[partitionKeyOf(request)]),
  };
};
