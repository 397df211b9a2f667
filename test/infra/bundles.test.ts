import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { stop } from 'esbuild';
import { bundleFunctions } from '../../lib/bundle-functions.ts';
import { synthesizeService } from './service-template.ts';

/**
 * The most kilobytes (1024 bytes) each bundle may have: what it had when it was measured and a fifth. A
 * bundle that grows beyond it has drawn in something large, which every cold start pays for.
 */
const MAX_KILOBYTES: Record<string, number> = {
  'api/block-end-user': 479,
  'api/bulk-delete-generations': 658,
  'api/create-generation': 646,
  'api/delete-end-user': 660,
  'api/delete-generation': 657,
  'api/get-balance': 481,
  'api/get-generation': 516,
  'api/list-balance-history': 482,
  'api/list-end-users': 483,
  'api/list-generations': 522,
  'api/list-models': 507,
  'api/unblock-end-user': 479,
  'events/create-signing-key': 396,
  'workflow/dispatch-request': 1380,
  'workflow/fail-request': 478,
  'workflow/poll-provider': 1377,
  'workflow/settle-request': 477,
  'workflow/store-outputs': 1537,
};
const NAMES = Object.keys(MAX_KILOBYTES);

let folder: string;
let bundleOf: (name: string) => string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bundles-'));
  bundleOf = await bundleFunctions(folder);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await stop();
});

test('there is one bundle for each function of the stack, and no other', () => {
  const bundles = readdirSync(folder).flatMap((group) =>
    readdirSync(join(folder, group)).map((name) => `${group}/${name}`),
  );

  expect(bundles.toSorted()).toEqual(Object.keys(synthesizeService().functions).toSorted());
  expect(bundles.toSorted()).toEqual(NAMES.toSorted());
});

describe.each(NAMES)('the bundle of %s', (name) => {
  test('is one file of no more than its size', () => {
    expect(readdirSync(bundleOf(name))).toEqual(['index.mjs']);
    const kilobytes = statSync(join(bundleOf(name), 'index.mjs')).size / 1024;

    expect(kilobytes).toBeLessThanOrEqual(MAX_KILOBYTES[name] ?? 0);
  });

  test('loads by itself, away from the project, and has a handler', () => {
    const url = pathToFileURL(join(bundleOf(name), 'index.mjs')).href;
    const script = `const { handler } = await import(${JSON.stringify(url)}); console.log(typeof handler);`;

    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: folder,
      env: { AWS_REGION: 'eu-west-1', AWS_LAMBDA_FUNCTION_NAME: name },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });

    expect(printed).toBe('function\n');
  });
});
