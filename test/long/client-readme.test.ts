import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from '@jest/globals';
import { codeBlocksOf, installPackage } from '../../packages/client/test/a-package.ts';
import { useCaller } from '../contract/support/use-caller.ts';

const folder = mkdtempSync(join(tmpdir(), 'client-readme-'));
const caller = useCaller();
afterAll(() => rmSync(folder, { recursive: true }));

test('The README’s first image runs as written, from the packed package', async () => {
  installPackage(folder);
  const readme = new URL('../../packages/client/README.md', import.meta.url);
  const [code = ''] = codeBlocksOf(readFileSync(readme, 'utf8'));
  writeFileSync(join(folder, 'first-image.ts'), code);
  const env = {
    ...process.env,
    GENERATION_BASE_URL: caller.service.baseUrl,
    GENERATION_API_KEY: caller.key,
    NODE_NO_WARNINGS: '1',
  };
  await promisify(execFile)(process.execPath, ['first-image.ts'], { cwd: folder, env });

  const [file = ''] = readdirSync(folder).filter((name) => /^img_\w+_0\.png$/.test(name));
  expect(readFileSync(join(folder, file)).subarray(1, 4).toString()).toBe('PNG');
});
