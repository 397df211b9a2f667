import { S3Client } from '@aws-sdk/client-s3';
import { clientOptions } from '../aws-clients.ts';

/** The S3 client of every call but uploads. */
export const bucket = new S3Client(clientOptions('files'));
