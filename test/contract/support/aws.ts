import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SFNClient } from '@aws-sdk/client-sfn';
import { DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import type { LocalService } from './local-service.ts';

/** SDK client settings that reach a local run as its operator. */
export const settingsOf = (service: LocalService) => ({
  endpoint: service.awsEndpointUrl,
  region: 'us-east-1',
  credentials: {
    accessKeyId: service.operatorAccessKeyId,
    secretAccessKey: service.operatorSecretAccessKey,
  },
});

/** Runs `work` with a Step Functions client of a local run, as its operator. */
export const withStepFunctions = async <T>(
  service: LocalService,
  work: (client: SFNClient) => Promise<T>,
): Promise<T> => {
  const client = new SFNClient(settingsOf(service));
  try {
    return await work(client);
  } finally {
    client.destroy();
  }
};

/** Runs `work` with a document client of a local run's table, and the table's name, as its operator. */
export const withTable = async <T>(
  service: LocalService,
  work: (client: DynamoDBDocumentClient, tableName: string) => Promise<T>,
): Promise<T> => {
  const client = new DynamoDBClient(settingsOf(service));
  try {
    return await work(DynamoDBDocumentClient.from(client), service.tableName);
  } finally {
    client.destroy();
  }
};

/** Every item of the table that contains `text`, as JSON. */
export const itemsNaming = (service: LocalService, text: string): Promise<string[]> =>
  withTable(service, async (client, TableName) => {
    const found: string[] = [];
    for await (const { Items = [] } of paginateScan({ client }, { TableName })) {
      found.push(...Items.map((item) => JSON.stringify(item)).filter((item) => item.includes(text)));
    }
    return found;
  });
