import { DeleteObjectsCommand, S3Client } from '@aws-sdk/client-s3';
import { requiredEnv } from './environment.ts';
import { logger } from './observability.ts';

const objects = new S3Client({ maxAttempts: 3 });

/** Most keys S3 takes in one DeleteObjects. */
const MAX_KEYS = 1000;

/**
 * Removes stored files, as well as it can: gives how many are gone, and never rejects. What could not be
 * removed is logged, and goes with the bucket's lifecycle.
 */
export const removeObjects = async (objectKeys: readonly string[]): Promise<number> => {
  let removed = 0;
  for (let start = 0; start < objectKeys.length; start += MAX_KEYS) {
    const Objects = objectKeys.slice(start, start + MAX_KEYS).map((Key) => ({ Key }));
    try {
      const { Errors = [] } = await objects.send(
        new DeleteObjectsCommand({ Bucket: requiredEnv('BUCKET_NAME'), Delete: { Objects, Quiet: true } }),
      );
      removed += Objects.length - Errors.length;
      for (const { Key, Code } of Errors)
        logger.warn('a file could not be removed', { objectKey: Key, code: Code });
    } catch (error) {
      logger.warn('files could not be removed', { objectKeys, error: error as Error });
    }
  }
  return removed;
};
