import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { requiredEnv } from '../environment.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { outputObjectPrefix } from '../table/keys.ts';
import { type Instant, toInstant } from '../time.ts';
import { bucket } from './bucket.ts';

/** A file in the bucket. */
export interface StoredFile {
  objectKey: string;
  sizeBytes: number;
  /** Rounded to the second. */
  storedAt: Instant;
}

/** The files of a request in the bucket, recorded or not. A request has at most 15, so one page holds all. */
export const listStoredFiles = async ({
  requestId,
}: Pick<StoredRequest, 'requestId'>): Promise<StoredFile[]> => {
  const { Contents = [] } = await bucket.send(
    new ListObjectsV2Command({
      Bucket: requiredEnv('BUCKET_NAME'),
      Prefix: outputObjectPrefix(requestId),
    }),
  );
  return Contents.flatMap(({ Key, Size = 0, LastModified }) =>
    Key && LastModified ? [{ objectKey: Key, sizeBytes: Size, storedAt: toInstant(LastModified) }] : [],
  );
};
