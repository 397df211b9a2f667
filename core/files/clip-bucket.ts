import { S3Client } from '@aws-sdk/client-s3';
import { clientOptions } from '../aws-clients.ts';

/** The S3 client of copies of reference videos, which have less time than other files: their function makes no other. */
export const clipBucket = new S3Client(clientOptions('copy'));
