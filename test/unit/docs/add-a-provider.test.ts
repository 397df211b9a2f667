import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { PROJECT_ROOT, readDocument } from './documents.ts';

const guide = readDocument('docs/add-a-provider.md');

const filesIn = (folder: string): string[] =>
  readdirSync(join(PROJECT_ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|tsx|json)$/.test(name))
    .map((name) => join(folder, name));

/** The provider's own folders, where a new one has its own. */
const OWN = /^(providers|packages\/sandbox\/src)\/modelstudio\//;
/** It is named for something else than its place in the project. */
const ASIDE = ['core/guarded-http/http-files.ts', 'packages/sandbox/src/media/video-size.ts'];

test('The guide to adding a provider names every file that names one today', () => {
  const files = [
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
    .flatMap(filesIn)
    .concat('cdk.json')
    .filter((path) => /model_?studio/i.test(readDocument(path)))
    .filter((path) => !OWN.test(path) && !ASIDE.includes(path));

  expect(files.length).toBeGreaterThan(10);
  expect(files.filter((path) => !guide.includes(`\`${path}\``) && !guide.includes(`(../${path})`))).toEqual(
    [],
  );
});
