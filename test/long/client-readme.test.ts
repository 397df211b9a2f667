import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { installProvider } from '../../packages/ai-sdk/test/a-package.ts';
import { codeBlocksOf } from '../../packages/client/test/a-package.ts';
import { useCaller } from '../contract/support/use-caller.ts';

const folder = mkdtempSync(join(tmpdir(), 'client-readme-'));
const caller = useCaller();
beforeAll(() => void installProvider(folder));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a sample of a package's README as it is printed. */
const runSample = async (name: 'client' | 'ai-sdk', index: number): Promise<void> => {
  const readme = new URL(`../../packages/${name}/README.md`, import.meta.url);
  writeFileSync(join(folder, 'sample.ts'), codeBlocksOf(readFileSync(readme, 'utf8'))[index] ?? '');
  const env = {
    ...process.env,
    GENERATION_BASE_URL: caller.service.baseUrl,
    GENERATION_API_KEY: caller.key,
    NODE_NO_WARNINGS: '1',
  };
  await promisify(execFile)(process.execPath, ['sample.ts'], { cwd: folder, env });
};
const textIn = (file: string, from: number, to: number): string =>
  readFileSync(join(folder, file)).subarray(from, to).toString();

test('The client’s first image runs as written, from the packed package', async () => {
  await runSample('client', 0);

  const [file = ''] = readdirSync(folder).filter((name) => /^img_\w+_0\.png$/.test(name));
  expect(textIn(file, 1, 4)).toBe('PNG');
});

test('The AI SDK’s first image and its video run as written, from the packed packages', async () => {
  await runSample('ai-sdk', 0);
  expect(textIn('lighthouse.png', 1, 4)).toBe('PNG');

  await runSample('ai-sdk', 1);
  expect(textIn('waves.mp4', 4, 8)).toBe('ftyp');
});
