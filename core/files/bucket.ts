import { S3Client } from '@aws-sdk/client-s3';

/** The S3 client. A call is attempted up to 4 times. */
export const bucket = new S3Client({ maxAttempts: 4 });
