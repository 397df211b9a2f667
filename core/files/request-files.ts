import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { FILE_EXTENSIONS } from '@generation-service/media/file-types';
import { requiredEnv } from '../environment.ts';
import { CLIP_PREFIX, outputObjectKey, outputObjectPrefix, possibleClips } from '../object-keys.ts';
import { logger } from '../observability.ts';
import { clipsOf, maxOutputs, type StoredRequest } from '../requests/request-rules.ts';
import { type Instant, toInstant } from '../time.ts';
import { bucket, removeObjects } from './bucket.ts';

/**
 * The object keys of all copies of its reference videos that a request may have in the bucket: a repeated creation may
 * have found another container at the caller's URL.
 */
export const possibleClipsOf = (request: StoredRequest): string[] =>
  possibleClips(request.requestId, clipsOf(request).length);

/**
 * The object keys of all files that a request may have in the bucket, so that they can be removed without a
 * listing. Outputs on its record have a known key; for any other output, an interrupted attempt to store it
 * may have left a file with any extension of its kind. Includes the copies of its reference videos.
 */
export const possibleFilesOf = (request: StoredRequest): string[] => {
  const recorded = new Map((request.outputs ?? []).map(({ index, objectKey }) => [index, objectKey]));
  const outputs = Array.from({ length: maxOutputs(request) }, (_, index) => {
    const objectKey = recorded.get(index);
    if (objectKey !== undefined) return [objectKey];
    return FILE_EXTENSIONS[request.kind].map((extension) =>
      outputObjectKey(request.requestId, index, extension),
    );
  });
  return [...outputs.flat(), ...possibleClipsOf(request)];
};

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
