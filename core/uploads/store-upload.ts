import { PutObjectCommand } from '@aws-sdk/client-s3';
import { requiredEnv } from '../environment.ts';
import { bucket } from '../files/bucket.ts';
import type { OwnUpload } from './own-upload.ts';

/** Stores the file of an upload. The bucket's lifecycle removes it, as all uploads. */
export const storeUpload = async ({
  contentType,
  bytes,
  objectKey,
}: OwnUpload & { contentType: string }): Promise<void> => {
  await bucket().send(
    new PutObjectCommand({
      Bucket: requiredEnv('BUCKET_NAME'),
      Key: objectKey,
      Body: bytes,
      ContentType: contentType,
    }),
  );
};
