import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { clientOptions } from '../aws-clients.ts';
import { requiredEnv } from '../environment.ts';

/** The table's client. */
export const table = DynamoDBDocumentClient.from(new DynamoDBClient(clientOptions('table')), {
  marshallOptions: { removeUndefinedValues: true },
});

/** The table's name, from the environment. Throws when it is not set. */
export const tableName = (): string => requiredEnv('TABLE_NAME');

/** An item as it is stored, keys included; entities parse it by their schema. */
export type StoredItem = Record<string, unknown>;
