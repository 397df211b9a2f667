import { DeleteObjectsCommand } from '@aws-sdk/client-s3';
import { requiredEnv } from '../environment.ts';
import { logger } from '../observability.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { bucket } from './bucket.ts';
import { listStoredFiles } from './stored-files.ts';

/** Most keys in one DeleteObjects: S3 limit. */
const MAX_KEYS = 1000;

/**
 * Removes files from the bucket and returns how many were removed. Never rejects: failures are logged, and
 * the bucket's lifecycle removes what is left.
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
 * Removes every file of a request: the recorded ones, and any stored but not recorded because storing was
 * interrupted. `complete` is false when some may be left. Never rejects.
 */
export const removeFilesOf = async (
  request: Pick<StoredRequest, 'requestId'>,
  recorded: readonly string[],
): Promise<{ removed: number; complete: boolean }> => {
  const files = new Set(recorded);
  let listed = true;
  try {
    for (const { objectKey } of await listStoredFiles(request)) files.add(objectKey);
  } catch (error) {
    listed = false;
    logger.warn('files could not be listed', { requestId: request.requestId, error: error as Error });
  }
  const removed = await removeObjects([...files]);
  return { removed, complete: listed && removed === files.size };
};
