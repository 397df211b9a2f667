import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { requiredEnv } from '../environment.ts';

/**
 * The table's client. Retries a call that has not answered within 3 s: DynamoDB answers in single-digit
 * milliseconds, so a longer wait is a lost packet, and an API function has 29 s in all.
 */
export const table = DynamoDBDocumentClient.from(
  new DynamoDBClient({ maxAttempts: 4, requestHandler: { connectionTimeout: 1000, requestTimeout: 3000 } }),
  { marshallOptions: { removeUndefinedValues: true } },
);

/** The table's name, from the environment. Throws when it is not set. */
export const tableName = (): string => requiredEnv('TABLE_NAME');

/** An item as it is stored, keys included; entities parse it by their schema. */
export type StoredItem = Record<string, unknown>;
