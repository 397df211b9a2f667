import type { Readable } from 'node:stream';

import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll } from '@jest/globals';

import type { AwsEndpoint } from '../../src/aws/endpoint.ts';
import { BUCKET, clientsOf, endpointOptions, NO_TABLES, removeDirectory, startEndpoint } from './support.ts';

/** An endpoint with an empty bucket for the tests of a file, started before them and closed after them. */
export const useBucket = () => {
  const options = endpointOptions(NO_TABLES);
  const started = {} as { endpoint: AwsEndpoint; s3: S3Client };
  beforeAll(async () => {
    started.endpoint = await startEndpoint(options);
    started.s3 = clientsOf(started.endpoint).s3;
  });
  afterAll(async () => {
    await started.endpoint.close();
    removeDirectory(options.dataDir);
  });
  return {
    started,
    options,
    put: (Key: string, Body: string | Buffer | Readable, rest = {}) =>
      started.s3.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body, ...rest })),
    read: async (Key: string, Range?: string) => {
      const { Body, ...rest } = await started.s3.send(new GetObjectCommand({ Bucket: BUCKET, Key, Range }));
      return { ...rest, bytes: Buffer.from((await Body?.transformToByteArray()) ?? []) };
    },
    list: (rest = {}) => started.s3.send(new ListObjectsV2Command({ Bucket: BUCKET, ...rest })),
  };
};

/** The keys on a page of a listing. */
export const keysOf = (page: { Contents?: { Key?: string }[] }) => page.Contents?.map(({ Key }) => Key) ?? [];
