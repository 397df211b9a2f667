import { DeleteObjectsCommand, type S3Client } from '@aws-sdk/client-s3';
import { requiredEnv } from '../environment.ts';
import { logger } from '../observability.ts';

/** Most keys in one DeleteObjects: S3 limit. */
const MAX_KEYS = 1000;

/**
 * Removes files from the bucket by a client's limits of time, and returns those that may be left. Never rejects: failures are
 * logged, and the bucket's lifecycle removes what stays.
 */
export const removeObjectsBy = async (client: S3Client, objectKeys: readonly string[]): Promise<string[]> => {
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
