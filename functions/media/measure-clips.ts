import { type InputMeasures, MeasuringWork } from '../../core/creation/input-measuring.ts';
import { measureInputs } from '../../core/creation/measure-inputs.ts';
import { clipBucket, removeObjectsBy } from '../../core/files/bucket.ts';
import { possibleClips } from '../../core/object-keys.ts';
import { eventHandler } from '../event-handler.ts';

/**
 * For creations: measures input files and copies reference videos into the bucket, or removes the copies of a request that was
 * not accepted. The function reads untrusted files, from servers of strangers and from callers, so its role may only put and
 * delete copies under their prefix. Throws when it has not ended 1 s before its time limit.
 */
export const handler = eventHandler<InputMeasures>(async (event) => {
  const work = MeasuringWork.parse(event);
  if ('files' in work) return { measures: await measureInputs(work) };
  await removeObjectsBy(clipBucket(), possibleClips(work.requestId, work.left));
  return { measures: [] };
});
