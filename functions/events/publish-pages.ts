import { readFile } from 'node:fs/promises';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import * as z from 'zod/mini';
import { allEnded } from '../../core/concurrency/in-parallel.ts';
import { requiredEnv } from '../../core/environment.ts';
import { bucket } from '../../core/files/bucket.ts';
import {
  CONSOLE_PAGES,
  OPENAPI_FILE,
  PUBLIC_PAGES,
  type PublicPage,
  REFERENCE_FILE,
} from '../../core/files/pages.ts';
import { customResource } from '../cloudformation.ts';

/** The address that the published document names, and whether there is a console. Other properties only show that there is something new. */
const Properties = z.object({
  BaseUrl: z.string().check(z.minLength(1)),
  Console: z.optional(z.literal('true')),
});

/** There is one set of pages in a stack. */
const PHYSICAL_ID = 'public-pages';

/**
 * Custom resource for the pages that the distribution serves to everyone; they lie beside this function. Create and update put
 * them into the bucket. Delete does nothing: they go with the bucket.
 */
export const handler = customResource(async (event) => {
  if (event.RequestType !== 'Delete') {
    const { BaseUrl, Console } = Properties.parse(event.ResourceProperties);
    const pages = Console ? [...PUBLIC_PAGES, ...CONSOLE_PAGES] : PUBLIC_PAGES;
    await publishPages(new URL('./', import.meta.url), pages, BaseUrl);
  }
  return { physicalId: PHYSICAL_ID };
});

/** Cache time of browsers and edges: the longest time for which an old page is seen after an upgrade. */
const MAX_AGE_SECONDS = 300;

/**
 * Puts the pages of a folder into the bucket. Writes the API's address into the OpenAPI document, and removes the link to the
 * console from the reference if the folder has no console. Repeating it replaces them.
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
  await allEnded(pages.map((page) => publish(folder, page, made[page.file])));
};

const publish = async (
  folder: URL,
  { file, key, contentType, encoding, maxAgeSeconds = MAX_AGE_SECONDS }: PublicPage,
  make: ((text: string) => string) | undefined,
): Promise<void> => {
  const bytes = await readFile(new URL(file, folder));
  await bucket().send(
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
