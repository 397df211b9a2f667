import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from '@jest/globals';
import sharp from 'sharp';

const root = fileURLToPath(new URL('../..', import.meta.url));
const saved: string[] = [];
afterAll(() => Promise.all(saved.map((file) => rm(file, { force: true }))));

test('npm run demo makes a real image, saves it under out/ and says where', async () => {
  const { stdout } = await promisify(execFile)('npm', ['run', '--silent', 'demo'], { cwd: root });

  const lines = stdout.trim().split('\n');
  expect(lines.filter((line) => /^img_\w+: (queued|processing|succeeded)/.test(line)).length).toBeGreaterThan(
    1,
  );
  const [, file = '', size] = /^(out\/img_\w+\.jpg) {2}(\d+x\d+)$/m.exec(stdout) ?? [];
  saved.push(resolve(root, file));
  const { width, height, format } = await sharp(await readFile(resolve(root, file))).metadata();
  expect([`${width}x${height}`, format]).toEqual([size, 'jpeg']);
});
