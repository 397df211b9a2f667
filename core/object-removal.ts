import { DeleteObjectsCommand } from '@aws-sdk/client-s3';
import { bucket } from './bucket.ts';
import { requiredEnv } from './environment.ts';
import { logger } from './observability.ts';
import { listStoredFiles } from './stored-files.ts';

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
      const { Errors = [] } = await bucket.send(
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

/**
 * Removes whatever is stored for a request that delivers nothing, though nobody recorded it: what was stored
 * before storing failed. As well as it can, like `removeObjects`. A request has at most 15 files.
 */
export const removeUnrecordedFiles = async (accountId: string, requestId: string): Promise<void> => {
  try {
    const files = await listStoredFiles({ accountId, requestId });
    await removeObjects(files.map(({ objectKey }) => objectKey));
  } catch (error) {
    logger.warn('files could not be listed', { requestId, error: error as Error });
  }
};
