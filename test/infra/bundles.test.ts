import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { stop } from 'esbuild';
import { CONSOLE_PAGES, PUBLIC_PAGES } from '../../core/files/pages.ts';
import { cachedBundles } from '../../lib/bundle-cache.ts';
import { bundleFunctions } from '../../lib/bundle-functions.ts';
import { DEVELOPMENT, SANDBOX } from './option-sets.ts';
import { synthesizeService } from './service-template.ts';

/**
 * Size limit of each bundle in kilobytes (1024 bytes): its measured size plus a fifth. A bundle over the limit has
 * pulled in something large, which slows every cold start.
 */
const MAX_KILOBYTES: Record<string, number> = {
  'api/block-end-user': 494,
  'api/bulk-delete-generations': 675,
  'api/create-generation': 664,
  'api/create-video': 850,
  'api/delete-end-user': 679,
  'api/delete-generation': 674,
  'api/get-balance': 493,
  'api/get-generation': 533,
  'api/get-video': 1529,
  'api/list-balance-history': 494,
  'api/list-end-users': 497,
  'api/list-generations': 542,
  'api/list-models': 522,
  'api/receive-callback': 1434,
  'api/unblock-end-user': 494,
  'events/create-signing-key': 395,
  'events/publish-pages': 600,
  'events/reconcile': 1599,
  'events/reconcile-lost': 1599,
  'events/stop-executions': 600,
  'events/verify-ledger': 483,
  'media/measure-clips': 1250,
  // The encoder of videos.
  'sandbox/answer-as-providers': 1240,
  'workflow/await-capacity': 700,
  'workflow/await-provider': 1411,
  'workflow/dispatch-request': 1411,
  'workflow/expire-requests': 638,
  'workflow/fail-request': 678,
  'workflow/list-expired-requests': 500,
  'workflow/query-provider': 1382,
  'workflow/deliver-webhook': 1391,
  'workflow/settle-request': 510,
  'workflow/store-outputs': 1566,
};
const NAMES = Object.keys(MAX_KILOBYTES);
/** The files of a bundle: its module, and the pages beside the function that publishes them. */
const filesOf = (name: string): string[] => {
  const pages = name === 'events/publish-pages' ? [...PUBLIC_PAGES, ...CONSOLE_PAGES] : [];
  return ['index.mjs', ...pages.map(({ file }) => file)].toSorted();
};

let folder: string;
let bundleOf: (name: string) => string;
/** The `typeof` each bundle's handler. */
let handlers: Record<string, string>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bundles-'));
  bundleOf = await bundleFunctions(folder);
  handlers = loadInOneProcess();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await stop();
});

const loadInOneProcess = (): Record<string, string> => {
  const urls = NAMES.map((name) => [name, pathToFileURL(join(bundleOf(name), 'index.mjs')).href]);
  const script = `const kinds = {};
    for (const [name, url] of ${JSON.stringify(urls)}) kinds[name] = typeof (await import(url)).handler;
    console.log(JSON.stringify(kinds));`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: folder,
    env: { AWS_REGION: 'eu-west-1', AWS_LAMBDA_FUNCTION_NAME: 'any' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return JSON.parse(printed);
};

test('there is exactly one bundle for each function of the stack, the stand-in for the providers included', async () => {
  const bundles = readdirSync(folder).flatMap((group) =>
    readdirSync(join(folder, group)).map((name) => `${group}/${name}`),
  );

  const { functions } = await synthesizeService({ ...DEVELOPMENT, ...SANDBOX });
  expect(bundles.toSorted()).toEqual(Object.keys(functions).toSorted());
  expect(bundles.toSorted()).toEqual(NAMES.toSorted());
  expect(Object.keys((await synthesizeService()).functions).toSorted()).toEqual(
    NAMES.filter((name) => !name.startsWith('sandbox/')).toSorted(),
  );
});

test('cached bundles are reused for the same sources, and equal a fresh build', async () => {
  const deployed = await cachedBundles();
  const again = await cachedBundles();

  for (const name of NAMES) {
    const file = join(deployed(name), 'index.mjs');
    expect(readFileSync(file).equals(readFileSync(join(bundleOf(name), 'index.mjs')))).toBe(true);
    expect(again(name)).toBe(deployed(name));
  }
});

describe.each(NAMES)('the bundle of %s', (name) => {
  test('is one file within its size limit', () => {
    expect(readdirSync(bundleOf(name)).toSorted()).toEqual(filesOf(name));
    const kilobytes = statSync(join(bundleOf(name), 'index.mjs')).size / 1024;

    expect(kilobytes).toBeLessThanOrEqual(MAX_KILOBYTES[name] ?? 0);
  });

  test('loads outside the project, and has a handler', () => {
    expect(handlers[name]).toBe('function');
  });
});
