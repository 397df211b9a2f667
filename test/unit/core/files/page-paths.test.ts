import { describe, expect, test } from '@jest/globals';
import {
  CONSOLE_PAGES,
  CONSOLE_PATHS,
  consoleContentPolicy,
  PUBLIC_PAGES,
  PUBLIC_PATHS,
  rootPage,
} from '../../../../core/files/pages.ts';
import { OUTPUT_PREFIX } from '../../../../core/object-keys.ts';

const pages = [...PUBLIC_PAGES, ...CONSOLE_PAGES];
const isIn = (paths: readonly string[], key: string): boolean =>
  paths.some((path) => new RegExp(`^${path.replaceAll('*', '.*')}$`).test(`/${key}`));

describe.each([
  ['the reference', PUBLIC_PATHS, PUBLIC_PAGES, false],
  ['the console', CONSOLE_PATHS, CONSOLE_PAGES, true],
] as const)('the public paths of %s', (_, paths, own, hasConsole) => {
  test.each(own.map(({ key }) => key))('include %s', (key) => {
    expect(isIn(paths, key)).toBe(true);
  });

  test('include the root, which shows one of its pages', () => {
    expect(isIn(paths, '')).toBe(true);
    expect(own.find(({ key }) => key === rootPage(hasConsole))?.contentType).toMatch(/^text\/html/);
  });

  test('include no file of a request, and none of the pages hides one', () => {
    expect(isIn(paths, `${OUTPUT_PREFIX}a/0.png`)).toBe(false);
    expect(pages.some(({ key }) => key.startsWith(OUTPUT_PREFIX))).toBe(false);
  });
});

describe('the content policy of the console', () => {
  const sources = (filesUrl: string | undefined, uploadsUrl: string | undefined) =>
    Object.fromEntries(
      consoleContentPolicy({ filesUrl, uploadsUrl })
        .split('; ')
        .map((directive) => [directive.split(' ', 1)[0], directive.split(' ').slice(1).join(' ')]),
    );
  const BUCKET = 'https://bucket.s3.us-east-1.amazonaws.com';

  test('allows no other source where files and console have one address and nothing is uploaded', () => {
    expect(sources(undefined, undefined)).toEqual({
      'default-src': "'self'",
      'img-src': "'self' data: blob:",
      'media-src': "'self' blob:",
      'connect-src': "'self'",
      'object-src': "'none'",
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
    });
  });

  test.each<[string | undefined, string | undefined, string, string]>([
    ['https://files.example.com/a', undefined, ' https://files.example.com', ''],
    [undefined, BUCKET, '', ` ${BUCKET}`],
    ['https://files.example.com', BUCKET, ' https://files.example.com', ` ${BUCKET}`],
    ['http://127.0.0.1:3000/files', undefined, ' http://127.0.0.1:3000', ''],
    ['http://127.0.0.1:3000/files', 'http://127.0.0.1:9/', ' http://127.0.0.1:3000', ' http://127.0.0.1:*'],
  ])('of files at %s and uploads at %s shows, reads and sends just there', (files, uploads, shown, sent) => {
    expect(sources(files, uploads)).toMatchObject({
      'img-src': `'self' data: blob:${shown}`,
      'media-src': `'self' blob:${shown}`,
      'connect-src': `'self'${shown}${sent}`,
    });
  });
});
