import { GetObjectCommand } from '@aws-sdk/client-s3';
import { requiredEnv } from '../environment.ts';
import { bucket } from './bucket.ts';

/** The bytes of a stored file, in base64. Throws S3's error when it is gone. */
export const readFileAsBase64 = async (objectKey: string): Promise<string> => {
  const { Body } = await bucket.send(
    new GetObjectCommand({ Bucket: requiredEnv('BUCKET_NAME'), Key: objectKey }),
  );
  if (!Body) throw new Error(`${objectKey} has no body.`);
  return Buffer.from(await Body.transformToByteArray()).toString('base64');
};
