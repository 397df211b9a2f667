import { S3Client } from '@aws-sdk/client-s3';
import { clientOptions } from '../aws-clients.ts';
import { removeObjectsBy } from './remove-objects-by.ts';

/** The S3 client of every call but uploads. */
export const bucket = new S3Client(clientOptions('files'));

/** Removes files from the bucket and returns those that may be left, as `removeObjectsBy` does. */
export const removeObjects = (objectKeys: readonly string[]): Promise<string[]> =>
  removeObjectsBy(bucket, objectKeys);
