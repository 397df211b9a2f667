import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import { settingsOf } from './aws.ts';
import type { LocalService } from './local-service.ts';

/** A request's item of the table, as far as the tests look into it. */
export interface StoredRequest {
  requestId: string;
  status: 'queued' | 'processing' | 'succeeded' | 'failed';
  outputs?: { objectKey?: string }[];
  expiresAt?: string;
  expiredAt?: string;
}

/** Every request of every account: a way to look at them that sets nothing off, as reads do. */
export const storedRequests = async (service: LocalService): Promise<StoredRequest[]> => {
  const client = new DynamoDBClient(settingsOf(service));
  const pages = paginateScan(
    { client: DynamoDBDocumentClient.from(client) },
    {
      TableName: service.tableName,
      FilterExpression: 'SK = :request',
      ExpressionAttributeValues: { ':request': 'REQUEST' },
    },
  );
  const found: StoredRequest[] = [];
  try {
    for await (const { Items = [] } of pages) found.push(...(Items as StoredRequest[]));
  } finally {
    client.destroy();
  }
  return found;
};

/** The keys of all objects in the bucket that have a text in them, in text order. There are at most 1,000 objects. */
export const storedKeys = async (service: LocalService, text = ''): Promise<string[]> => {
  const client = new S3Client({ ...settingsOf(service), forcePathStyle: true });
  try {
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: service.bucketName }));
    return Contents.flatMap(({ Key }) => (Key?.includes(text) ? [Key] : []));
  } finally {
    client.destroy();
  }
};
