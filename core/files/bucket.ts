import { DeleteObjectsCommand, S3Client } from '@aws-sdk/client-s3';
import { clientOptions } from '../aws-clients.ts';
import { requiredEnv } from '../environment.ts';
import { logger } from '../observability.ts';

/** The S3 client of every call but uploads. */
export const bucket = new S3Client(clientOptions('files'));

/** The S3 client of copies of reference videos, which have less time than other files. */
export const clipBucket = new S3Client(clientOptions('copy'));

/** Most keys in one DeleteObjects: S3 limit. */
const MAX_KEYS = 1000;

/**
 * Removes files from the bucket, within the client's limits of time, and returns those that may be left. Never rejects: failures are
 * logged, and the bucket's lifecycle removes what stays.
 */
export const removeObjects = async (
  objectKeys: readonly string[],
  client: S3Client = bucket,
): Promise<string[]> => {
  const left: string[] = [];
  for (let start = 0; start < objectKeys.length; start += MAX_KEYS) {
    const Objects = objectKeys.slice(start, start + MAX_KEYS).map((Key) => ({ Key }));
    try {
      const { Errors = [] } = await client.send(
        new DeleteObjectsCommand({ Bucket: requiredEnv('BUCKET_NAME'), Delete: { Objects, Quiet: true } }),
      );
      for (const { Key = '', Code } of Errors) {
        left.push(Key);
        logger.warn('a file could not be removed', { objectKey: Key, code: Code });
      }
    } catch (error) {
      left.push(...Objects.map(({ Key }) => Key));
      logger.warn('files could not be removed', {
        first: Objects[0]?.Key,
        count: Objects.length,
        error: error as Error,
      });
    }
  }
  return left;
};
