import { describe, expect, test } from '@jest/globals';
import { CONSOLE_PAGES, CONSOLE_PATHS, PUBLIC_PAGES, PUBLIC_PATHS } from '../../../../core/files/pages.ts';
import { OUTPUT_PREFIX } from '../../../../core/object-keys.ts';

const pages = [...PUBLIC_PAGES, ...CONSOLE_PAGES];
const patterns = [...PUBLIC_PATHS, ...CONSOLE_PATHS].map(
  (path) => new RegExp(`^${path.replaceAll('*', '.*')}$`),
);
const isPublic = (key: string): boolean => patterns.some((pattern) => pattern.test(`/${key}`));

describe('the paths of the public pages', () => {
  test.each(pages.map(({ key }) => key))('include %s', (key) => {
    expect(isPublic(key)).toBe(true);
  });

  test('include the root', () => {
    expect(isPublic('')).toBe(true);
  });

  test('include no file of a request', () => {
    expect(isPublic(`${OUTPUT_PREFIX}a/0.png`)).toBe(false);
    expect(pages.some(({ key }) => key.startsWith(OUTPUT_PREFIX))).toBe(false);
  });
});
