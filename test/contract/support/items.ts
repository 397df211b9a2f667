import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { LocalService } from './local-service.ts';

/** Changes attributes of an item while `work` runs, then restores it. */
export const changingItem = async <T>(
  service: LocalService,
  Key: { PK: string; SK: string },
  attributes: Record<string, unknown>,
  work: () => Promise<T>,
): Promise<T> => {
  const credentials = {
    accessKeyId: service.operatorAccessKeyId,
    secretAccessKey: service.operatorSecretAccessKey,
  };
  const client = new DynamoDBClient({ endpoint: service.awsEndpointUrl, region: 'us-east-1', credentials });
  const documents = DynamoDBDocumentClient.from(client);
  const TableName = service.tableName;
  const { Item } = await documents.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
  if (!Item) throw new Error(`There is no ${Key.PK}.`);
  try {
    await documents.send(new PutCommand({ TableName, Item: { ...Item, ...attributes } }));
    return await work();
  } finally {
    await documents.send(new PutCommand({ TableName, Item }));
    client.destroy();
  }
};
