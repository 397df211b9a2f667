import { type ClipMeasures, ClipWork } from '../../core/creation/clip-measuring.ts';
import { copyReferenceVideos } from '../../core/creation/reference-videos.ts';
import { clipBucket, removeObjectsBy } from '../../core/files/bucket.ts';
import { possibleClips } from '../../core/object-keys.ts';
import { eventHandler } from '../event-handler.ts';

/**
 * For `create-video`: copies reference videos into the bucket and measures them, or removes the copies of a request that was not
 * accepted. It reads what strangers' servers send, and so may do nothing else: it puts and deletes copies under their own prefix and
 * reads nothing. Throws when it has not ended 1 s before its time limit.
 */
export const handler = eventHandler<ClipMeasures>(async (event) => {
  const work = ClipWork.parse(event);
  if ('urls' in work) return { measures: await copyReferenceVideos(work) };
  await removeObjectsBy(clipBucket(), possibleClips(work.requestId, work.left));
  return { measures: [] };
});
