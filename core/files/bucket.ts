import { DeleteObjectsCommand, S3Client } from '@aws-sdk/client-s3';
import { clientOptions } from '../aws-clients.ts';
import { requiredEnv } from '../environment.ts';
import { logger } from '../observability.ts';

/**
 * Makes a client at its first use: an S3 client takes 4 ms, and most cold starts need none. The calls are marked as pure: a
 * bundle contains only the clients that its function uses.
 */
const madeOnce = (make: () => S3Client): (() => S3Client) => {
  let client: S3Client | undefined;
  return () => {
    client ??= make();
    return client;
  };
};

/** The S3 client of every call but these: */
export const bucket = /* @__PURE__ */ madeOnce(() => new S3Client(clientOptions('files')));
/** Uploads of outputs, which take longer. */
export const uploadBucket = /* @__PURE__ */ madeOnce(() => new S3Client(clientOptions('upload')));
/** Copies of reference videos, which have less time. */
export const clipBucket = /* @__PURE__ */ madeOnce(() => new S3Client(clientOptions('copy')));

/** Most keys in one DeleteObjects: S3 limit. */
const MAX_KEYS = 1000;

/** Removes files from the bucket, and returns those that may be left. Never rejects: failures are logged, and the bucket's lifecycle removes what stays. */
export const removeObjects = (objectKeys: readonly string[]): Promise<string[]> =>
  removeObjectsBy(bucket(), objectKeys);

/** As `removeObjects`, by a client with time limits of its own. */
export const removeObjectsBy = async (client: S3Client, objectKeys: readonly string[]): Promise<string[]> => {
  const left: string[] = [];
  for (let start = 0; start < objectKeys.length; start += MAX_KEYS) {
    const Objects = objectKeys.slice(start, start + MAX_KEYS).map((Key) => ({ Key }));
    try {
      const { Errors = [] } = await client.send(
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
