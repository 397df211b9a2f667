import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { requiredEnv } from '../environment.ts';
import { OUTPUT_PREFIX, outputObjectPrefix } from '../object-keys.ts';
import { logger } from '../observability.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { type Instant, toInstant } from '../time.ts';
import { bucket, removeObjects } from './bucket.ts';

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
  const { Contents = [] } = await bucket().send(
    new ListObjectsV2Command({
      Bucket: requiredEnv('BUCKET_NAME'),
      Prefix: outputObjectPrefix(requestId),
    }),
  );
  return Contents.flatMap(({ Key, Size = 0, LastModified }) =>
    Key && LastModified ? [{ objectKey: Key, sizeBytes: Size, storedAt: toInstant(LastModified) }] : [],
  );
};

/**
 * Removes every file of a request: the recorded ones, and any stored but not recorded because storing was
 * interrupted. `removed` counts its outputs, not its clips and uploads. `complete` is false when some may be
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
    [...keys].filter((key) => key.startsWith(OUTPUT_PREFIX)).length;
  return { removed: outputsIn(files) - outputsIn(left), complete: listed && left.length === 0 };
};
