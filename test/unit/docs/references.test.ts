import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { CORE_ORDER } from '../architecture/import-rules.ts';
import { DOCUMENTS, PROJECT_ROOT, readDocument } from './documents.ts';

const withoutCode = (document: string): string => document.replace(/^```.*?^```/gms, '');

/** Relative links of a document: `[text](target)`. */
const linksIn = (document: string): string[] =>
  [...withoutCode(document).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));

/** The anchors GitHub gives to a document's headings. */
const anchorsIn = (document: string): string[] =>
  [...withoutCode(document).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );

const linkProblem = (from: string, link: string): string | undefined => {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? from : join(dirname(from), path);
  if (!existsSync(join(PROJECT_ROOT, target))) return `${link} leads nowhere`;
  if (anchor === undefined || anchorsIn(readDocument(target)).includes(anchor)) return undefined;
  return `${link} names no heading`;
};

/** Folders at the top level: what a path in code font begins with. */
const FOLDERS = readdirSync(PROJECT_ROOT).filter(
  (name) => !name.startsWith('.') && statSync(join(PROJECT_ROOT, name)).isDirectory(),
);
/** What exists only once something has run. */
const PRODUCED = ['node_modules', 'out', 'build', 'cdk.out'];

/** Paths of the project in code font; those with a placeholder (`<name>`, `*`, `…`) are left out. */
const pathsIn = (document: string): string[] =>
  [...document.matchAll(/`([\w.-]+\/[^`\s]*)`/g)]
    .map(([, path = '']) => path)
    .filter(
      (path) => FOLDERS.includes(path.split('/')[0] ?? '') && !PRODUCED.includes(path.split('/')[0] ?? ''),
    )
    .filter((path) => !/[<*{…]/.test(path));

/** npm scripts a document names: `npm run x`, `npm test`, `npm start`. */
const scriptsIn = (document: string): string[] =>
  [...document.matchAll(/\bnpm (?:run (?:--silent )?([\w:-]+)|(test|start)\b)/g)].map(
    ([, named, short]) => named ?? short ?? '',
  );

const scripts = Object.keys(JSON.parse(readDocument('package.json')).scripts);

describe.each(DOCUMENTS)('%s', (path) => {
  const document = readDocument(path);

  test('links only to files and headings that exist', () => {
    expect(linksIn(document).flatMap((link) => linkProblem(path, link) ?? [])).toEqual([]);
  });

  test('names only files that exist', () => {
    expect(pathsIn(document).filter((named) => !existsSync(join(PROJECT_ROOT, named)))).toEqual([]);
  });

  test('names only npm scripts that exist', () => {
    expect(scriptsIn(document).filter((script) => !scripts.includes(script))).toEqual([]);
  });
});

test('the README has fewer than 120 lines', () => {
  expect(readDocument('README.md').split('\n').length).toBeLessThan(120);
});

test('ARCHITECTURE.md lists the folders of core, in their import order', () => {
  const listed = linksIn(readDocument('ARCHITECTURE.md')).filter((link) => /^core\/[^/]+$/.test(link));
  const folders = readdirSync(join(PROJECT_ROOT, 'core'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `core/${name}`);

  expect(listed).toEqual(CORE_ORDER.filter((name) => name !== '').map((name) => `core/${name}`));
  expect([...listed].sort()).toEqual(folders.sort());
});
