import { S3Client } from '@aws-sdk/client-s3';

/** The bucket's client. */
export const bucket = new S3Client({ maxAttempts: 4 });
