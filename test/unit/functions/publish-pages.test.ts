import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { CONSOLE_PAGES, PUBLIC_PAGES } from '../../../core/files/pages.ts';
import { handler, publishPages } from '../../../functions/events/publish-pages.ts';
import { aLambdaContext } from '../builders/api-events.ts';
import { answer, aResourceEvent, type RequestType } from '../builders/custom-resource.ts';
import { PROJECT_ROOT } from '../docs/documents.ts';
import { MemoryBucket } from '../fakes/memory-bucket.ts';

const bucket = new MemoryBucket();
const folder = mkdtempSync(join(tmpdir(), 'pages-'));
for (const { file } of PUBLIC_PAGES) writeFileSync(join(folder, file), `<${file}>`);
writeFileSync(join(folder, 'openapi.json'), readFileSync(join(PROJECT_ROOT, 'docs/openapi.json')));
beforeEach(() => bucket.reset());
afterAll(() => rmSync(folder, { recursive: true }));

describe('the public pages', () => {
  test('are put into the bucket under their paths, each with its type', async () => {
    await publishPages(pathToFileURL(`${folder}/`), PUBLIC_PAGES, 'https://api.example.com/prod');

    const objects = [...bucket.objects].map(([key, { contentType }]) => [key, contentType]);
    expect(objects.toSorted()).toEqual(
      PUBLIC_PAGES.map(({ key, contentType }) => [key, contentType]).toSorted(),
    );
    expect(bucket.objects.get('docs')?.bytes.toString()).toBe('<docs.html>');
    const puts = bucket.client.commandCalls(PutObjectCommand).map(({ args }) => args[0].input);
    const headers = Object.fromEntries(
      puts.map(({ Key, CacheControl, ContentEncoding }) => [Key, [CacheControl, ContentEncoding]]),
    );
    expect(headers).toEqual({
      'openapi.json': ['public, max-age=300', undefined],
      docs: ['public, max-age=300', undefined],
      // Redoc changes with a release of Redoc only.
      'docs/redoc.standalone.js': ['public, max-age=86400', 'gzip'],
      'docs/redoc.standalone.js.LICENSE.txt': ['public, max-age=300', undefined],
    });
  });

  test('name the address of this API in the document, and change nothing else in it', async () => {
    await publishPages(pathToFileURL(`${folder}/`), PUBLIC_PAGES, 'https://api.example.com/prod');

    const { servers, ...published } = JSON.parse(String(bucket.objects.get('openapi.json')?.bytes));
    const { servers: _, ...committed } = JSON.parse(readFileSync(join(folder, 'openapi.json'), 'utf8'));
    expect(servers).toEqual([{ url: 'https://api.example.com/prod', description: 'This API.' }]);
    expect(published).toEqual(committed);
  });
});

const run = (type: RequestType, properties: Record<string, string>) =>
  handler(aResourceEvent(type, properties), aLambdaContext());

describe('the reference page', () => {
  const REFERENCE = readFileSync(join(PROJECT_ROOT, 'lib/pages/docs.html'), 'utf8');
  const own = mkdtempSync(join(tmpdir(), 'reference-'));
  for (const { file } of [...PUBLIC_PAGES, ...CONSOLE_PAGES]) writeFileSync(join(own, file), '{}');
  writeFileSync(join(own, 'docs.html'), REFERENCE);
  afterAll(() => rmSync(own, { recursive: true }));
  const published = async (pages: typeof PUBLIC_PAGES): Promise<string> => {
    await publishPages(pathToFileURL(`${own}/`), pages, 'https://api.example.com');
    return String(bucket.objects.get('docs')?.bytes);
  };

  test('leads back to the console where that is published', async () => {
    expect(await published([...PUBLIC_PAGES, ...CONSOLE_PAGES])).toBe(REFERENCE);
    expect(REFERENCE).toContain('<a href="/console">');
  });

  test('does not where it is not, and is the same otherwise', async () => {
    const page = await published(PUBLIC_PAGES);

    expect(page).not.toMatch(/console|<nav/);
    expect(page.replace(/\s/g, '')).toBe(REFERENCE.replace(/<nav .*<\/nav>/, '').replace(/\s/g, ''));
  });
});

describe('the custom resource', () => {
  test('stays when the stack is deleted: the pages go with the bucket', async () => {
    await run('Delete', { BaseUrl: 'https://api.example.com' });

    expect(answer()).toMatchObject({ Status: 'SUCCESS', PhysicalResourceId: 'public-pages' });
    expect(bucket.objects.size).toBe(0);
  });

  test('fails the deployment when the pages are not in its bundle', async () => {
    await run('Create', { BaseUrl: 'https://api.example.com' });

    expect(answer()).toMatchObject({ Status: 'FAILED', Reason: expect.stringMatching(/^See the logs: /) });
    expect(bucket.objects.size).toBe(0);
  });

  test('fails without the address of the API', async () => {
    await run('Update', {});

    expect(answer()).toMatchObject({ Status: 'FAILED', PhysicalResourceId: 'physical-1' });
  });
});
