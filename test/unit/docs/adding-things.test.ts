import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { PROJECT_ROOT, readDocument, tableRows } from './documents.ts';

const sourcesIn = (folder: string): string[] =>
  readdirSync(join(PROJECT_ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|tsx|json)$/.test(name))
    .map((name) => join(folder, name));

/** The product's own files: neither tests nor what is made from others. */
const FILES = [
  'bin',
  'core',
  'lib',
  'functions',
  'providers',
  'local',
  'ops',
  'console',
  'packages/sandbox/src',
]
  .flatMap(sourcesIn)
  .concat('cdk.json', 'docs/api.md', 'docs/alarms.md', 'docs/configuring.md', 'docs/operating.md');

/** The folders that a provider has for itself. */
const OWN = /^(providers|packages\/sandbox\/src)\/(modelark|modelstudio|fal)\//;

/** The files that name a thing or are named by it. */
const filesOf = (thing: RegExp): string[] =>
  FILES.filter((path) => thing.test(path) || thing.test(readDocument(path))).sort();

/** The paths in the row of CONTRIBUTING.md that says how to add a thing. */
const listed = (thing: string): string[] => {
  const rows = tableRows(readDocument('CONTRIBUTING.md'), 'to add', 'files, besides its tests');
  const [, files = ''] = rows.find(([name]) => name === thing) ?? [];
  return [...files.matchAll(/`([^`]+\/?)`/g)].map(([, path = '']) => path).sort();
};

test.each([
  [
    'a route',
    /\bblock-end-user\b|end-users\/\{email\}\/block/,
    'functions/api/block-end-user.ts',
    'functions/api/<name>.ts',
  ],
  ['a model', /\bxSD5Pro\b/, '', ''],
  ['a field of a creation', /\blastFrame\b/, /^providers\/.*/, 'providers/<provider>/'],
])(
  '%s is added in the files that CONTRIBUTING.md lists, and in no others',
  (thing, named, own, placeholder) => {
    const files = filesOf(named).map((path) => (own === '' ? path : path.replace(own, placeholder)));

    expect([...new Set(files)].sort()).toEqual(listed(thing));
  },
);

test('a provider is added in the files that CONTRIBUTING.md and the guide list, and in folders of its own', () => {
  const files = filesOf(/model_?studio/i).filter((path) => !OWN.test(path));
  const guide = readDocument('docs/add-a-provider.md');

  expect(files).toEqual(listed('a provider'));
  expect(files.filter((path) => !guide.includes(`\`${path}\``))).toEqual([]);
});
