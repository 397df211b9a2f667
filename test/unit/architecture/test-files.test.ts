import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { clockReadsAtCollection } from './collection-clocks.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

test('no two test files share a name, so that a name in a report leads to one', () => {
  const files = globSync('{test,packages/*/test}/**/*.test.ts', { cwd: ROOT });
  const named = Map.groupBy(files, (file) => basename(file));

  expect(files.length).toBeGreaterThan(400);
  expect([...named.values()].filter(({ length }) => length > 1)).toEqual([]);
});

/** What a page shows or a log has comes later than the action that makes it. Such a reading in an expectation is read once. */
const READ_ONCE =
  /expect\(\s*(?:[\w.]+\()?(?:await\b|\(await\b)(?:(?!\bexpect\(|;).)*?(?:\.(?:count|textContent|innerText|innerHTML|inputValue|getAttribute|title|allTextContents|allInnerTexts|isVisible|isHidden|isChecked|isEnabled|isDisabled)\(|\bpage\.evaluate\(|\bloggedLines\()|expect\(\s*(?:new URL\()?[\w.]*page\.url\(/gs;

const readOnce = (text: string): string[] => [...text.matchAll(READ_ONCE)].map(([found]) => found);

test('an expectation waits for what a page shows and a log has: by `becomes`, not by one reading', () => {
  const files = globSync('{test/{contract,local,long},packages/*/test}/**/*.test.ts', { cwd: ROOT });
  const found = files.flatMap((file) =>
    readOnce(readFileSync(`${ROOT}${file}`, 'utf8')).map((text) => `${file}: ${text}`),
  );

  expect(files.length).toBeGreaterThan(150);
  expect(found).toEqual([]);
});

test.each([
  'expect(await page.title()).toBe(1)',
  "expect(await page.getByRole('link', { name: /^a/ }).count()).toBe(2)",
  "expect(JSON.parse((await raw.textContent()) ?? '')).toEqual({})",
  "expect(\n  await page.evaluate('scrollY'),\n).toBe(0)",
  "expect(await loggedLines(dir, 'x')).toHaveLength(1)",
  'expect(new URL(me.page.url()).hash).toBe(1)',
])('such a reading is found: %s', (text) => {
  expect(readOnce(text)).toHaveLength(1);
});

test.each(['await becomes(() => page.title(), 1)', 'expect(await balance(caller)).toBe(1); a.count()'])(
  'and no other: %s',
  (text) => {
    expect(readOnce(text)).toEqual([]);
  },
);

test('no test reads the clock while tests are collected, which may be minutes before it runs', () => {
  const files = globSync('{test,packages/*/test}/**/*.ts', { cwd: ROOT })
    .map((file) => [file, readFileSync(`${ROOT}${file}`, 'utf8')] as const)
    .filter(([, source]) => source.includes("'@jest/globals'") && /Date\.now\(\)|new Date\(\)/.test(source));

  expect(files.length).toBeGreaterThan(20);
  expect(files.filter(([, source]) => clockReadsAtCollection(source) > 0).map(([file]) => file)).toEqual([]);
});

test.each<[string, number]>([
  ['const now = Date.now();', 1],
  ['test.each([[new Date()]])("%s", () => {});', 1],
  ["describe('a', () => { const at = new Date(); test('b', () => {}); });", 1],
  ["export const tell = () => { describe.each([Date.now()])('a', () => {}); };", 1],
  ['const ago = () => Date.now() - 1; const rows = [[ago()]];', 1],
  ["const ago = () => Date.now() - 1; test('a', () => { ago(); });", 0],
  ["beforeAll(() => { at = new Date(); }); const noon = new Date('2026-11-26T12:00:00Z');", 0],
])('%s reads the clock so %i times', (source, count) => {
  expect(clockReadsAtCollection(source)).toBe(count);
});
