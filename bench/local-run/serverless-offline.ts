import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { logProgress } from '../publish.ts';

/** Version 3 of Serverless is the last that needs no account. Both are 280 MB: too much for everybody's `npm ci`. */
const PACKAGES = ['serverless@3.40.0', 'serverless-offline@13.10.1'];
const FOLDER = join(tmpdir(), 'generation-service-serverless-offline-13');
const PORT = 47_311;
const START_LIMIT_MS = 60_000;

const FILES = {
  'package.json': '{ "private": true }',
  'serverless.yml': `service: constant
frameworkVersion: '3'
provider: { name: aws, runtime: nodejs20.x }
plugins: [serverless-offline]
functions:
  constant:
    handler: handler.constant
    events: [{ http: { method: get, path: constant } }]
`,
  'handler.js':
    "exports.constant = async () => ({ statusCode: 200, headers: { 'content-type': 'application/json' }, body: '{\"ok\":true}' });\n",
};

/**
 * Runs `measure` beside serverless-offline 13, which answers a constant at the URL. It is installed from the npm registry into a
 * temporary folder once. Returns undefined, and says so, where it cannot be had.
 */
export const withServerlessOffline = async <T>(
  measure: (url: string) => Promise<T>,
): Promise<T | undefined> => {
  try {
    install();
  } catch (error) {
    logProgress(`serverless-offline cannot be had: ${(error as Error).message.split('\n')[0]}`);
    return undefined;
  }
  const child = spawn(
    process.execPath,
    [
      join(FOLDER, 'node_modules/serverless/bin/serverless.js'),
      ...['offline', '--httpPort', String(PORT), '--lambdaPort', String(PORT + 1), '--noPrependStageInUrl'],
    ],
    {
      cwd: FOLDER,
      stdio: 'ignore',
      env: { ...process.env, SLS_NOTIFICATIONS_MODE: 'off', SLS_TELEMETRY_DISABLED: '1' },
    },
  );
  try {
    const url = `http://127.0.0.1:${PORT}/constant`;
    const giveUpAt = performance.now() + START_LIMIT_MS;
    while (!(await answers(url))) {
      if (performance.now() > giveUpAt) throw new Error('serverless-offline did not start.');
      await sleep(200);
    }
    return await measure(url);
  } finally {
    child.kill('SIGTERM');
  }
};

const install = (): void => {
  if (existsSync(join(FOLDER, 'node_modules/serverless-offline/package.json'))) return;
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(FOLDER, name), text);
  logProgress('installing serverless-offline 13 for comparison');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...PACKAGES], {
    cwd: FOLDER,
    stdio: 'ignore',
  });
};

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
