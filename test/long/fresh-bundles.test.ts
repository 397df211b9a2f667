import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { stop } from 'esbuild';
import { cachedBundles } from '../../lib/bundle-cache.ts';
import { bundleFunctions, functionNames } from '../../lib/bundle-functions.ts';

const folder = mkdtempSync(join(tmpdir(), 'bundles-'));
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await stop();
});

test('cached bundles are reused for the same sources, and equal a fresh build', async () => {
  const fresh = await bundleFunctions(folder);
  const deployed = await cachedBundles();
  const again = await cachedBundles();

  for (const name of functionNames()) {
    const read = (bundle: string) => readFileSync(join(bundle, 'index.mjs'));
    expect([name, read(deployed(name)).equals(read(fresh(name)))]).toEqual([name, true]);
    expect(again(name)).toBe(deployed(name));
  }
});
