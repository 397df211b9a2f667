import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { type StoredItem, table } from './table.ts';

/**
 * Every item of a table, strongly consistent, a page of up to 1 MB at a time. For comparing whole tables only: nothing else needs every
 * item, and this costs a read unit for each 4 KB of the table.
 */
export const scanPages = async function* (name: string): AsyncGenerator<StoredItem[]> {
  let startKey: Record<string, unknown> | undefined;
  do {
    const page = await table.send(
      new ScanCommand({ TableName: name, ConsistentRead: true, ExclusiveStartKey: startKey }),
    );
    yield page.Items ?? [];
    startKey = page.LastEvaluatedKey;
  } while (startKey);
};
