import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  againstOrder,
  builtInsReachedBy,
  circlesOf,
  impureWays,
  outOfLayer,
  outOfPackage,
} from './import-rules.ts';
import { importsOf, ROOT, readImports, readSources } from './source-graph.ts';

const sources = readSources(
  'core',
  'functions',
  'providers',
  'lib',
  'bin',
  'ops',
  'local',
  'console',
  'packages',
  'test',
);
const imports = readImports(sources);
const RULES = [...sources.keys()].filter((path) => /-rules\.ts$/.test(path) && path.startsWith('core/'));
/** Modules that are pure without the name: rules of every noun build on them. */
const ALSO_PURE = [
  'core/requests/render-record.ts',
  'packages/media/src/measure-image.ts',
  'packages/media/src/video-type.ts',
];
const PACKAGES = [...new Set([...sources.keys()].flatMap((path) => /^packages\/[^/]+\//.exec(path) ?? []))];

interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}
const manifestOf = (directory: string): Manifest =>
  JSON.parse(readFileSync(join(ROOT, directory, 'package.json'), 'utf8'));
const namesIn = ({ dependencies, devDependencies, optionalDependencies }: Manifest): string[] =>
  Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies });

describe('the imports of the project', () => {
  test('are found', () => {
    expect(imports.length).toBeGreaterThan(1_000);
    expect(RULES.map((path) => basename(path))).toEqual(
      expect.arrayContaining(['ledger-rules.ts', 'request-rules.ts', 'target-rules.ts', 'webhook-rules.ts']),
    );
    expect(PACKAGES.length).toBeGreaterThan(1);
  });

  test('lead in core/ only to the same folder or one above it', () => {
    expect(againstOrder(imports)).toEqual([]);
  });

  test('form no circle, of types neither; in tests, of types alone', () => {
    const counted = imports.filter(({ from, typeOnly }) => !(typeOnly && from.startsWith('test/')));

    expect(circlesOf(counted)).toEqual([]);
  });

  test('keep to the layers: only core/ touches the table, and nothing imports what is built on it', () => {
    expect(outOfLayer(imports)).toEqual([]);
  });

  test.each([...RULES, ...ALSO_PURE])('of %s reach neither an SDK nor the environment', (path) => {
    expect(sources.has(path)).toBe(true);
    expect(impureWays(path, imports)).toEqual([]);
  });

  test('of the console lead to nothing that a browser does not have, but what its own module stands in for', () => {
    const ways = [...sources.keys()].filter((path) => path.startsWith('console/'));
    const reached = new Set(ways.flatMap((path) => builtInsReachedBy(path, imports)));

    expect(ways.length).toBeGreaterThan(20);
    expect([...reached]).toEqual(['node:url domainToUnicode', 'node:net isIP']);
  });

  test.each(PACKAGES)('of %s lead to its own files and to packages it declares', (directory) => {
    const own = namesIn(manifestOf(directory));
    const forTests = [...own, ...namesIn(manifestOf('.'))];
    const types = forTests.filter((name) => name.startsWith('@types/'));

    expect(outOfPackage(`${directory}src/`, imports, [...own, ...types])).toEqual([]);
    expect(outOfPackage(directory, imports, forTests)).toEqual([]);
  });
});

/** The imports of small made-up modules. */
const fixture = (modules: Record<string, string>) => readImports(new Map(Object.entries(modules)));

describe('an import is found', () => {
  test.each([
    ["import { a } from './b.ts';", false],
    ["import { type A } from './b.ts';", false],
    ["import './b.ts';", false],
    ["export * from './b.ts';", false],
    ["export { a } from './b.ts';", false],
    ["const b = await import('./b.ts');", false],
    ["const b = () => require('./b.ts');", false],
    ["import type { A } from './b.ts';", true],
    ["export type { A } from './b.ts';", true],
    ["type A = import('./b.ts').A;", true],
  ])('in %s', (source, typeOnly) => {
    expect(importsOf('core/x/a.ts', source)).toMatchObject([
      { from: 'core/x/a.ts', to: 'core/x/b.ts', typeOnly },
    ]);
  });
});

test('an import of a package of this project leads to its sources', () => {
  const source = "import '@generation-service/a/b'; import '@generation-service/a'; import '@other/a/b';";

  expect(importsOf('core/x.ts', source).map(({ to }) => to)).toEqual([
    'packages/a/src/b.ts',
    'packages/a/src/index.ts',
    '@other/a/b',
  ]);
});

describe('a broken rule is reported', () => {
  test.each([
    ['core/requests/x.ts', "import { a } from '../webhooks/a.ts';"],
    ['core/requests/x.ts', "import type { A } from '../webhooks/a.ts';"],
    ['core/requests/x.ts', "import { a } from '../helpers/a.ts';"],
    ['core/x.ts', "import { a } from './table/a.ts';"],
    // Strangers, whatever their order.
    ['core/creation/x.ts', "import '../webhooks/a.ts';"],
    ['core/webhooks/x.ts', "import '../creation/a.ts';"],
  ])('when %s has %s', (path, source) => {
    expect(againstOrder(fixture({ [path]: source }))).toHaveLength(1);
  });

  test('when files import one another in a circle, also by types', () => {
    const modules = {
      'core/a.ts': "import './b.ts';",
      'core/b.ts': "import type { C } from './c.ts'; import './d.ts';",
      'core/c.ts': "import './a.ts';",
      'core/d.ts': "import './e.ts';",
    };

    expect(circlesOf(fixture(modules))).toEqual([['core/a.ts', 'core/b.ts', 'core/c.ts']]);
    expect(circlesOf(fixture({ ...modules, 'core/c.ts': "import './d.ts';" }))).toEqual([]);
  });

  test('but not for a folder above, or the same one', () => {
    const source = "import '../table/a.ts'; import './b.ts'; import '../time.ts';";

    expect(againstOrder(fixture({ 'core/requests/x.ts': source }))).toEqual([]);
  });

  test.each([
    ['core/x.ts', "import '../functions/a.ts';"],
    ['core/x.ts', "import type { A } from '../packages/sandbox/src/a.ts';"],
    ['core/x.ts', "import '@generation-service/local-aws';"],
    ['functions/api/x.ts', "import '@generation-service/media/measure-image';"],
    ['functions/api/x.ts', "import '../../ops/a.ts';"],
    ['functions/api/x.ts', "import '../../core/table/table.ts';"],
    ['providers/x.ts', "import '../core/waiting/a.ts';"],
    ['providers/x.ts', "import '../functions/a.ts';"],
    ['ops/x.ts', "import '../core/table/keys.ts';"],
    ['ops/x.ts', "import type { StoredItem } from '../core/table/table.ts';"],
    ['ops/x.ts', "import '../core/table/transactions.ts';"],
    ['lib/x.ts', "import '../core/table/table.ts';"],
    ['bin/x.ts', "import '../core/x.ts';"],
    ['local/x.ts', "import '../core/x.ts';"],
    ['console/x.tsx', "import { a } from '../core/table/a.ts';"],
    ['console/x.tsx', "import { a } from '../ops/a.ts';"],
    ['console/x.tsx', "import { a } from '../ops/story-span.ts';"],
  ])('when %s has %s', (path, source) => {
    expect(outOfLayer(fixture({ [path]: source }))).toHaveLength(1);
  });

  test.each([
    ['core/x.ts', "import '@generation-service/media/measure-image';"],
    ['ops/x.ts', "import '../core/table/pages.ts';"],
    ['lib/x.ts', "import '../core/table/keys.ts';"],
    ['providers/x.ts', "import type { A } from '../core/waiting/a.ts';"],
    ['console/x.tsx', "import type { A } from '../ops/story-span.ts';"],
    ['local/x.ts', "import '../packages/sandbox/src/a.ts'; import 'commander';"],
  ])('but not when %s has %s', (path, source) => {
    expect(outOfLayer(fixture({ [path]: source }))).toEqual([]);
  });

  test.each([
    "import { GetCommand } from '@aws-sdk/lib-dynamodb';",
    "import { Logger } from '@aws-lambda-powertools/logger';",
    "import { retry } from '@smithy/core/retry';",
    "import { request } from 'undici';",
    "import { readFile } from 'node:fs/promises';",
    "import { isIP, connect } from 'node:net';",
    "import * as net from 'node:net';",
    "import { requiredEnv } from '../environment.ts';",
  ])('when a rule loads a module with %s', (source) => {
    const modules = {
      'core/a/a-rules.ts': "import { b } from './b.ts';",
      'core/a/b.ts': "export * from './c.ts';",
      'core/a/c.ts': source,
    };

    expect(impureWays('core/a/a-rules.ts', fixture(modules))).toEqual([
      expect.stringMatching(/^core\/a\/a-rules\.ts -> core\/a\/b\.ts -> core\/a\/c\.ts -> /),
    ]);
  });

  test('but not for types, nor for telling an address by its text', () => {
    const modules = {
      'core/a/a-rules.ts': "import type { B } from './b.ts'; import { isIP } from 'node:net';",
      'core/a/b.ts': "import { GetCommand } from '@aws-sdk/lib-dynamodb';",
    };

    expect(impureWays('core/a/a-rules.ts', fixture(modules))).toEqual([]);
  });

  test.each([
    "import '../../../core/x.ts';",
    "import type { A } from '../../sandbox/src/a.ts';",
    "import '../../client/src/http.ts';",
    "import '@generation-service/sandbox';",
    "import 'undici';",
    "import '@scope/other/deep';",
  ])('when a package has %s', (source) => {
    const found = fixture({ 'packages/a/src/x.ts': source });

    expect(
      outOfPackage('packages/a/', found, ['commander', '@scope/own', '@generation-service/client']),
    ).toHaveLength(1);
  });

  test('but not for the entry of a package of this project that it declares, and the rest of that in its tests', () => {
    const found = fixture({
      'packages/a/src/x.ts': "import '@generation-service/client';",
      'packages/a/test/x.ts': "import '../../client/test/server.ts';",
    });

    expect(outOfPackage('packages/a/', found, ['@generation-service/client'])).toEqual([]);
  });

  test('but not for its own files, what it declares and what Node has', () => {
    const source =
      "import './y.ts'; import 'commander'; import '@scope/own/deep'; import 'node:fs'; import type { A } from 't';";

    expect(
      outOfPackage('packages/a/', fixture({ 'packages/a/src/x.ts': source }), [
        'commander',
        '@scope/own',
        '@types/t',
      ]),
    ).toEqual([]);
  });
});
