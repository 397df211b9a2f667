import { DeleteObjectsCommand } from '@aws-sdk/client-s3';
import { requiredEnv } from '../environment.ts';
import { logger } from '../observability.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { CLIP_PREFIX } from '../table/keys.ts';
import { bucket } from './bucket.ts';
import { listStoredFiles } from './stored-files.ts';

/** Most keys in one DeleteObjects: S3 limit. */
const MAX_KEYS = 1000;

/**
 * Removes files from the bucket and returns those that may be left. Never rejects: failures are logged, and the
 * bucket's lifecycle removes what stays.
 */
export const removeObjects = async (objectKeys: readonly string[]): Promise<string[]> => {
  const left: string[] = [];
  for (let start = 0; start < objectKeys.length; start += MAX_KEYS) {
    const Objects = objectKeys.slice(start, start + MAX_KEYS).map((Key) => ({ Key }));
    try {
      const { Errors = [] } = await bucket.send(
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

/**
 * Removes every file of a request: the recorded ones, and any stored but not recorded because storing was
 * interrupted. `removed` counts its outputs, not the copies of its reference videos. `complete` is false when some may be
 * left. Never rejects.
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
  const left = await removeObjects([...files]);
  const outputsIn = (keys: Iterable<string>) =>
    [...keys].filter((key) => !key.startsWith(CLIP_PREFIX)).length;
  return { removed: outputsIn(files) - outputsIn(left), complete: listed && left.length === 0 };
};
