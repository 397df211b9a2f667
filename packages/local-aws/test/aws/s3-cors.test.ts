import { request } from 'node:http';
import { S3Client } from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AwsEndpoint } from '../../src/aws/endpoint.ts';
import { secretAccessKeyOf } from '../../src/template/roles.ts';
import {
  allow,
  aPrincipal,
  BUCKET,
  endpointOptions,
  NO_TABLES,
  REGION,
  removeDirectory,
  startEndpoint,
} from './support.ts';

const rule = {
  allowedMethods: ['POST'],
  allowedOrigins: ['*'],
  allowedHeaders: ['*'],
  exposedHeaders: ['ETag'],
};
const options = endpointOptions({
  ...NO_TABLES,
  buckets: [BUCKET, 'closed', 'own'],
  cors: {
    [BUCKET]: [{ ...rule, maxAgeSeconds: 60 }],
    own: [{ ...rule, allowedOrigins: ['https://*.example.com'], allowedHeaders: ['x-amz-*'] }],
  },
});
const SIGNER = aPrincipal('signer', allow(['s3:PutObject'], `arn:aws:s3:::${BUCKET}/uploads/*`));
let endpoint: AwsEndpoint;
beforeAll(async () => {
  endpoint = await startEndpoint(options);
  endpoint.addPrincipals([SIGNER]);
});
afterAll(async () => {
  await endpoint.close();
  removeDirectory(options.dataDir);
});

const PAGE = 'https://app.example.com';
const preflight = (bucket: string, headers: Record<string, string> = {}): Promise<[number, Headers]> =>
  new Promise((resolve, reject) => {
    const asked = { origin: PAGE, 'access-control-request-method': 'POST', ...headers };
    request(`${endpoint.url}/${bucket}`, { method: 'OPTIONS', headers: asked }, (response) => {
      response.resume().on('end', () => {
        resolve([response.statusCode ?? 0, new Headers(response.headers as Record<string, string>)]);
      });
    })
      .on('error', reject)
      .end();
  });

describe('a preflight', () => {
  test('is answered by the rules of its bucket', async () => {
    const [status, headers] = await preflight(BUCKET, {
      'access-control-request-headers': 'x-a, content-type',
    });

    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'x-a, content-type',
      'access-control-max-age': '60',
    });
  });

  test.each<[string, string, Record<string, string>, number]>([
    ['of a bucket without rules', 'closed', {}, 403],
    ['of a bucket that is not there', 'absent', {}, 403],
    ['for another method', BUCKET, { 'access-control-request-method': 'PUT' }, 403],
    ['of an origin in a pattern', 'own', {}, 200],
    ['of another origin', 'own', { origin: 'https://example.org' }, 403],
    ['with a header in a pattern', 'own', { 'access-control-request-headers': 'X-Amz-Date' }, 200],
    ['with another header', 'own', { 'access-control-request-headers': 'x-a' }, 403],
    ['meant for another host', BUCKET, { host: 'evil.example' }, 403],
  ])('%s is answered so', async (_, bucket, headers, status) => {
    expect((await preflight(bucket, headers))[0]).toBe(status);
  });
});

describe('a web page', () => {
  test('sends a signed form, and may read the answer', async () => {
    const credentials = {
      accessKeyId: SIGNER.accessKeyId,
      secretAccessKey: secretAccessKeyOf(SIGNER.accessKeyId),
    };
    const s3 = new S3Client({ region: REGION, endpoint: endpoint.url, forcePathStyle: true, credentials });
    const { url, fields } = await createPresignedPost(s3, { Bucket: BUCKET, Key: 'uploads/a.png' });
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append('file', new Blob(['twelve bytes']));
    const response = await fetch(url, { method: 'POST', body: form, headers: { origin: PAGE } });

    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
    expect(response.headers.get('access-control-expose-headers')).toBe('ETag');
  });

  test('reaches nothing else of the endpoint', async () => {
    const headers = {
      origin: PAGE,
      authorization: 'AWS4-HMAC-SHA256 Credential=AKIAOPERATOR/20260101/us-east-1/s3/aws4_request',
    };

    expect((await fetch(`${endpoint.url}/${BUCKET}/uploads/a.png`, { headers })).status).toBe(403);
  });
});
