import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { installPackage } from '../../packages/client/test/a-package.ts';
import { anImage } from '../../packages/media/test/images.ts';
import { type Caller, eventually, newCaller, sharedService } from '../contract/support/client.ts';
import type { LocalService } from '../contract/support/local-service.ts';
import { examplesIn } from '../unit/docs/api-examples.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'api-document-'));
let service: LocalService;
let caller: Caller;
beforeAll(async () => {
  service = await sharedService();
  caller = await newCaller(service);
  writeFileSync(join(folder, 'sketch.png'), await anImage(300, 300, 'png'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** All examples run in sequence as one account, each language twice: the second run must equal the first. */
const TIMES = [1, 2];
const environmentOf = ({ key }: Caller) => ({
  ...process.env,
  GENERATION_BASE_URL: service.baseUrl,
  GENERATION_API_KEY: key,
  NODE_NO_WARNINGS: '1',
});

test.each(TIMES)('The examples in curl run as written, with the ids of what they made (%i)', async () => {
  // The quick start is run by quick-start.test.ts.
  const [_setUp, quickStart = '', ...examples] = examplesIn('sh');
  const ids = new Map<string, string>();
  const filled = (code: string): string =>
    code.replace(/(img|vid)_…/g, (placeholder, kind: string) => ids.get(kind) ?? placeholder);
  // A refusal is a failure.
  const strict = 'set -eo pipefail; curl() { command curl --fail-with-body "$@"; }\n';
  // What the quick start sets for those after it.
  const set = quickStart.split('\n').slice(0, 2).join('\n');

  expect(examples.length).toBeGreaterThanOrEqual(8);
  for (const example of examples) {
    const { stdout } = await run('bash', ['-c', `${strict}${set}\n${filled(example)}`], {
      cwd: folder,
      env: environmentOf(caller),
    });
    for (const [id = '', kind = ''] of stdout.matchAll(/\b(img|vid)_[0-9A-Z]{26}/g)) {
      if (!ids.has(kind)) ids.set(kind, id);
    }
    // As a reader does between a creation and what follows it.
    if (/-d '\{"model"/.test(example)) {
      const path = example.includes('/v1/videos')
        ? `/v1/videos/${ids.get('vid')}`
        : `/v1/generations/${ids.get('img')}`;
      const { body } = await eventually(
        () => caller.get<{ status: string }>(path),
        (answer) => !['queued', 'processing'].includes(answer.body.status),
      );
      expect(body.status).toBe('succeeded');
    }
  }
  expect([...ids.keys()]).toEqual(['img', 'vid']);
});

test.each(TIMES)('The examples in TypeScript run as written, and have no type error (%i)', async () => {
  const require = createRequire(import.meta.url);
  installPackage(folder);
  writeFileSync(join(folder, 'examples.ts'), examplesIn('ts').join('\n'));
  const { stdout } = await run(process.execPath, ['examples.ts'], {
    cwd: folder,
    env: environmentOf(caller),
  });

  expect(stdout).toContain(`${service.baseUrl}/files/`);
  expect(stdout).toContain('succeeded');
  const types = dirname(dirname(require.resolve('@types/node/package.json')));
  const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc');
  const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--ignoreConfig'];
  const given = [...options, '--typeRoots', types, '--types', 'node', 'examples.ts'];
  expect(
    await run(process.execPath, [compiler, ...given], { cwd: folder }).catch(({ stdout }) => stdout),
  ).toMatchObject({
    stdout: '',
  });
});

const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) console.warn('python3 is not installed: the examples in Python are not run.');

(hasPython ? test : test.skip).each(TIMES)('The examples in Python run as written (%i)', async () => {
  const { stdout } = await run('python3', ['-c', examplesIn('python').join('\n')], {
    cwd: folder,
    env: environmentOf(caller),
  });

  expect(stdout).toContain(`${service.baseUrl}/files/`);
  expect(stdout).toContain("'notFound': ['img_");
});
