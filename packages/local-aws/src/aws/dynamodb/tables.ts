import type { TableSpec } from '../../types.ts';
import { AwsError } from '../errors.ts';
import type { DynamoDbClient } from './client.ts';

/** Whether an engine refused because the table or its time to live already exists. */
const isThereAlready = (error: unknown): boolean =>
  error instanceof AwsError &&
  (error.code === 'ResourceInUseException' || /already enabled/i.test(error.message));

/** Creates missing tables, with their time to live. Existing tables are not changed. */
export const createTables = async (client: DynamoDbClient, tables: TableSpec[]): Promise<void> => {
  const ensure = async (operation: string, body: unknown) => {
    try {
      await client.call(operation, body);
    } catch (error) {
      if (!isThereAlready(error)) throw error;
    }
  };
  for (const { createTable, ttlAttribute } of tables) {
    await ensure('CreateTable', createTable);
    if (ttlAttribute === undefined) continue;
    await ensure('UpdateTimeToLive', {
      TableName: createTable.TableName,
      TimeToLiveSpecification: { AttributeName: ttlAttribute, Enabled: true },
    });
  }
};
