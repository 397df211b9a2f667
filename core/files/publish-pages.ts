import { readFile } from 'node:fs/promises';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { requiredEnv } from '../environment.ts';
import { bucket } from './bucket.ts';
import { CONSOLE_PAGES, OPENAPI_FILE, type PublicPage, REFERENCE_FILE } from './pages.ts';

/** How long browsers and edges keep a page: after an upgrade the old one is seen for so long. */
const MAX_AGE_SECONDS = 300;

/**
 * Puts pages of a folder into the bucket; the OpenAPI document with the address of this API, the reference without its way to
 * the console unless that is among them. Repeating it replaces them.
 */
export const publishPages = async (
  folder: URL,
  pages: readonly PublicPage[],
  baseUrl: string,
): Promise<void> => {
  const hasConsole = CONSOLE_PAGES.some((page) => pages.includes(page));
  const made: Record<string, (text: string) => string> = {
    [OPENAPI_FILE]: (text) => withServer(text, baseUrl),
    [REFERENCE_FILE]: (text) => (hasConsole ? text : text.replace(/<nav data-of="console">.*<\/nav>/, '')),
  };
  await Promise.all(pages.map((page) => publish(folder, page, made[page.file])));
};

const publish = async (
  folder: URL,
  { file, key, contentType, encoding, maxAgeSeconds = MAX_AGE_SECONDS }: PublicPage,
  make: ((text: string) => string) | undefined,
): Promise<void> => {
  const bytes = await readFile(new URL(file, folder));
  await bucket.send(
    new PutObjectCommand({
      Bucket: requiredEnv('BUCKET_NAME'),
      Key: key,
      Body: make ? Buffer.from(make(bytes.toString())) : bytes,
      ContentType: contentType,
      CacheControl: `public, max-age=${maxAgeSeconds}`,
      ...(encoding && { ContentEncoding: encoding }),
    }),
  );
};

const withServer = (document: string, url: string): string =>
  JSON.stringify({ ...JSON.parse(document), servers: [{ url, description: 'This API.' }] }, null, 2);
