import { execFile, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { chromium } from 'playwright-core';
import { installTarball, packPackage } from '../a-package.ts';
import { type Behavior, cut, FaultyServer, hangUp, json, refuse } from '../server.ts';

const server = await new FaultyServer().start();
const folder = mkdtempSync(join(tmpdir(), 'client-runtimes-'));
let own: string;
let tarball: string;
beforeAll(() => {
  tarball = packPackage(folder);
  own = installTarball(folder, tarball);
  const script = fileURLToPath(new URL('everywhere.mjs', import.meta.url));
  copyFileSync(script, join(folder, 'everywhere.mjs'));
  const address = 'globalThis.Deno ? Deno.args[0] : process.argv[2]';
  const rest = `import('./everywhere.mjs')
    .then(({ everywhere }) => everywhere(client, ${address}))
    .then((result) => console.log(JSON.stringify(result)));\n`;
  writeFileSync(join(folder, 'main.mjs'), `import * as client from '@generation-service/client';\n${rest}`);
  writeFileSync(join(folder, 'main.cjs'), `const client = require('@generation-service/client');\n${rest}`);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server.close();
});

const file: Behavior = (_seen, response) =>
  void response.writeHead(200, { 'content-length': 5 }).end('hello');

/** The service as the script expects it; every second answer to a creation is lost. */
const serve = (more: Record<string, Behavior> = {}): void => {
  let creations = 0;
  server.answer((seen, response) => {
    const image = { id: 'img_1_0', url: `${server.url}/file`, expiresAt: '2999-01-01T00:00:00.000Z' };
    const own = more[seen.path];
    if (own) return own(seen, response);
    if (seen.path === '/file') return file(seen, response);
    if (seen.path === '/cut') return cut(seen, response);
    if (seen.path.endsWith('absent')) return refuse(404, 'not_found')(seen, response);
    if (seen.method !== 'POST') {
      return json(200, { requestId: 'img_1', status: 'succeeded', images: [image] })(seen, response);
    }
    // Never answered.
    if (seen.body.includes('hang')) return undefined;
    creations += 1;
    return (creations % 2 ? hangUp : json(202, { requestId: 'img_1', referencesCount: 0 }))(seen, response);
  });
};

const EXPECTED = {
  requestId: 'img_1',
  bytes: 5,
  cut: 'DownloadError',
  aborted: 'AbortedError',
  refused: 'NotFoundError',
  unreachable: 'ConnectionError',
  webhook: 'video.failed',
  rotated: 'msg_1',
  stale: 'WebhookVerificationError',
  future: 'WebhookVerificationError',
  wrong: 'WebhookVerificationError',
  changed: 'WebhookVerificationError',
  rewritten: 'WebhookVerificationError',
  headless: 'WebhookVerificationError',
};

/** Runtimes with the script and their commands; those that are not installed are left out, loudly. */
const RUNTIMES: [name: string, script: string, command: string, ...options: string[]][] = [
  ['this Node', 'main.mjs', process.execPath],
  ['this Node, by require', 'main.cjs', process.execPath],
  ['the Node of the machine', 'main.mjs', '/usr/bin/node'],
  ['the Node of the machine, by require', 'main.cjs', '/usr/bin/node'],
  ['Bun', 'main.mjs', 'bun'],
  ['Deno', 'main.mjs', 'deno', 'run', '--allow-net'],
];

/** Resolution modes that cannot load ES modules, or only by `import()`: the package is ESM only. */
const IGNORED_RESOLUTIONS = ['node10', 'node16-cjs'];

test('The tarball has two entries, whose types resolve for ES modules and bundlers', async () => {
  const checked = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(tarball))));
  if (!checked.types) throw new Error('The package has no types.');
  const problems = checked.problems.filter(
    (problem) => !('resolutionKind' in problem && IGNORED_RESOLUTIONS.includes(problem.resolutionKind)),
  );

  expect(problems).toEqual([]);
  expect(Object.keys(checked.entrypoints)).toEqual(['.', './node']);
});

describe('The packed client does the same', () => {
  for (const [name, script, command, ...options] of RUNTIMES) {
    const isInstalled = spawnSync(command, ['--version']).status === 0;
    if (!isInstalled) console.warn(`${name} is not installed: the client is not run there.`);
    (isInstalled ? test : test.skip)(`in ${name}`, async () => {
      serve();
      const env = { ...process.env, NODE_NO_WARNINGS: '1' };
      const { stdout } = await promisify(execFile)(command, [...options, join(folder, script), server.url], {
        env,
      });

      expect(JSON.parse(stdout)).toEqual(EXPECTED);
    });
  }

  const executablePath = '/usr/bin/chromium';
  if (!existsSync(executablePath)) console.warn('Chromium is not installed: the client is not run there.');
  (existsSync(executablePath) ? test : test.skip)('in Chromium', async () => {
    const script =
      (text: string): Behavior =>
      (_seen, response) =>
        void response.writeHead(200, { 'content-type': 'text/javascript' }).end(text);
    const code = readFileSync(join(folder, 'everywhere.mjs'), 'utf8');
    serve({
      '/': (_seen, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
      '/client.mjs': script(readFileSync(join(own, 'build/index.js'), 'utf8')),
      '/everywhere.mjs': script(code),
    });
    const browser = await chromium.launch({ executablePath });
    try {
      const page = await browser.newPage();
      await page.goto(server.url);
      const run =
        "Promise.all([import('/client.mjs'), import('/everywhere.mjs')]).then(([client, { everywhere }]) => everywhere(client, location.origin))";

      await expect(page.evaluate(run)).resolves.toEqual(EXPECTED);
    } finally {
      await browser.close();
    }
  });
});
