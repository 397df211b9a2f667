import { readFile } from 'node:fs/promises';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { requiredEnv } from '../environment.ts';
import { bucket } from './bucket.ts';
import { OPENAPI_FILE, type PublicPage } from './pages.ts';

/** How long browsers and edges keep a page: after an upgrade the old one is seen for so long. */
const MAX_AGE_SECONDS = 300;

/**
 * Puts pages of a folder into the bucket; the OpenAPI document with the address of this API. Repeating it replaces
 * them.
 */
export const publishPages = async (
  folder: URL,
  pages: readonly PublicPage[],
  baseUrl: string,
): Promise<void> => {
  await Promise.all(pages.map((page) => publish(folder, page, baseUrl)));
};

const publish = async (
  folder: URL,
  { file, key, contentType, encoding, maxAgeSeconds = MAX_AGE_SECONDS }: PublicPage,
  baseUrl: string,
): Promise<void> => {
  const bytes = await readFile(new URL(file, folder));
  await bucket.send(
    new PutObjectCommand({
      Bucket: requiredEnv('BUCKET_NAME'),
      Key: key,
      Body: file === OPENAPI_FILE ? withServer(bytes.toString(), baseUrl) : bytes,
      ContentType: contentType,
      CacheControl: `public, max-age=${maxAgeSeconds}`,
      ...(encoding && { ContentEncoding: encoding }),
    }),
  );
};

const withServer = (document: string, url: string): Buffer =>
  Buffer.from(
    JSON.stringify({ ...JSON.parse(document), servers: [{ url, description: 'This API.' }] }, null, 2),
  );
