import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { installPackage } from '../../packages/client/test/a-package.ts';
import { newCaller, sharedService } from '../contract/support/client.ts';
import { type ExampleLanguage, examplesIn } from '../unit/docs/api-examples.ts';

const run = promisify(execFile);
let folder: string;
let env: Record<string, string | undefined>;
let keyWithoutBalance: string;
beforeAll(async () => {
  const { service, key } = await newCaller(await sharedService());
  keyWithoutBalance = (await newCaller(service, 0)).key;
  env = {
    ...process.env,
    GENERATION_BASE_URL: service.baseUrl,
    GENERATION_API_KEY: key,
    NODE_NO_WARNINGS: '1',
  };
});
beforeEach(() => {
  if (folder) rmSync(folder, { recursive: true });
  folder = mkdtempSync(join(tmpdir(), 'quick-start-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const [setUp = '', withCurl = ''] = examplesIn('sh');
const firstIn = (language: ExampleLanguage): string => examplesIn(language)[0] ?? '';
/** Runs a program as it is written, in an empty folder; the picture is there afterwards. */
const makesPicture = async (command: string, ...given: string[]): Promise<void> => {
  await run(command, given, { cwd: folder, env });
  expect(readFileSync(join(folder, 'lighthouse.png')).subarray(1, 4).toString()).toBe('PNG');
};

/** What a program prints that is run as it is written, whatever its exit status. */
const printed = (command: string, given: string[], more: Record<string, string> = {}): Promise<string> =>
  run(command, given, { cwd: folder, env: { ...env, ...more } }).then(
    ({ stdout, stderr }) => stdout + stderr,
    ({ stdout, stderr }) => stdout + stderr,
  );
/** The service's words in what a program prints: of a call that is refused, and of a request that fails. */
const says = async (
  command: string,
  argumentsOf: (code: string) => string[],
  code: string,
): Promise<void> => {
  const without = { GENERATION_API_KEY: keyWithoutBalance };
  expect(await printed(command, argumentsOf(code), without)).toContain('the balance is 0 xTokens');
  const failing = code.replace('a lighthouse', '[fail=provider_error] a lighthouse');
  expect(await printed(command, argumentsOf(failing))).toMatch(/upstream provider/);
  expect(existsSync(join(folder, 'lighthouse.png'))).toBe(false);
};

test('The quick start sets what the programs read', () => {
  expect(setUp).toMatch(/^export GENERATION_BASE_URL=http.*\nexport GENERATION_API_KEY=gsk_…\n$/);
});

test('It makes a picture with curl as written', async () => {
  await makesPicture('bash', '-euo', 'pipefail', '-c', withCurl);
});

test.each([['-c'], ['-euo', 'pipefail', '-c']])(
  'It prints the message of what is refused and of what fails, by bash %s',
  async (...options) => {
    await says('bash', (code) => [...options, code], withCurl);
  },
);

test('It makes a picture in TypeScript as written', async () => {
  installPackage(folder);
  writeFileSync(join(folder, 'first.ts'), firstIn('ts'));
  await makesPicture(process.execPath, 'first.ts');
});

test('It prints the message in TypeScript', async () => {
  installPackage(folder);
  const inFile = (code: string) => {
    writeFileSync(join(folder, 'first.ts'), code);
    return ['first.ts'];
  };
  await says(process.execPath, inFile, firstIn('ts'));
});

const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) console.warn('python3 is not installed: the quick start in Python is not run.');

(hasPython ? test : test.skip)('It makes a picture in Python as written', async () => {
  await makesPicture('python3', '-c', firstIn('python'));
});

(hasPython ? test : test.skip)('It prints the message in Python', async () => {
  await says('python3', (code) => ['-c', code], firstIn('python'));
});
