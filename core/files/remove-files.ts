import { logger } from '../observability.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { CLIP_PREFIX } from '../table/keys.ts';
import { removeObjects } from './remove-objects.ts';
import { listStoredFiles } from './stored-files.ts';

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
