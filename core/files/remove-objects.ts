import { bucket } from './bucket.ts';
import { removeObjectsBy } from './remove-objects-by.ts';

/** Removes files from the bucket and returns those that may be left, as `removeObjectsBy` does. */
export const removeObjects = (objectKeys: readonly string[]): Promise<string[]> =>
  removeObjectsBy(bucket, objectKeys);
