import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { paginateScan } from '@aws-sdk/lib-dynamodb';
import { CONSOLE_PAGES, PUBLIC_PAGES } from '../../../core/files/pages.ts';
import { settingsOf, withTable } from './aws.ts';
import type { LocalService } from './local-service.ts';

/** The attributes of a request's item that the tests read. */
export interface StoredRequest {
  requestId: string;
  status: 'queued' | 'processing' | 'succeeded' | 'failed';
  outputs?: { objectKey?: string }[];
  expiresAt?: string;
  expiredAt?: string;
  /** Its due key: the partition, and when it is due. */
  GSI1PK?: string;
  GSI1SK?: string;
}

/** Every request of every account. Unlike a read through the API, it triggers nothing. */
export const storedRequests = (service: LocalService): Promise<StoredRequest[]> =>
  withTable(service, async (client, TableName) => {
    const found: StoredRequest[] = [];
    const ofRequests = {
      FilterExpression: 'SK = :request',
      ExpressionAttributeValues: { ':request': 'REQUEST' },
    };
    for await (const { Items } of paginateScan({ client }, { TableName, ...ofRequests })) {
      found.push(...(Items as StoredRequest[]));
    }
    return found;
  });

const PAGES = new Set([...PUBLIC_PAGES, ...CONSOLE_PAGES].map(({ key }) => key));

/** The keys of all objects but the public pages and the console whose key contains `text`, sorted. Reads at most 1,000 objects. */
export const storedKeys = async (service: LocalService, text = ''): Promise<string[]> => {
  const client = new S3Client({ ...settingsOf(service), forcePathStyle: true });
  try {
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: service.bucketName }));
    return Contents.flatMap(({ Key }) => (Key?.includes(text) && !PAGES.has(Key) ? [Key] : []));
  } finally {
    client.destroy();
  }
};
