import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from '@jest/globals';

const START = fileURLToPath(new URL('../../../local/start.ts', import.meta.url));

const root = mkdtempSync(join(tmpdir(), 'start-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Runs `npm start` with these arguments, without a registry; `nodeOptions` go to Node.js. */
const start = (args: string[], nodeOptions: string[] = []) =>
  spawnSync(process.execPath, [...nodeOptions, START, ...args], {
    encoding: 'utf8',
    env: { ...process.env, DYNAMODB_ENDPOINT: '', npm_config_registry: 'http://127.0.0.1:9' },
  });

/** Node.js options that fake a platform of which no package is installed, on any developer's machine. */
const ON_ANOTHER_MACHINE = [
  '--import',
  `data:text/javascript,${encodeURIComponent("Object.defineProperties(process, { platform: { value: 'freebsd' }, arch: { value: 'riscv64' } })")}`,
];

describe('the command', () => {
  test.each<[string, string[]]>([
    ['an invalid port', ['--port', '99999']],
    ['context without a value', ['-c', 'outputTtlSeconds']],
    ['an unknown option', ['--colour']],
  ])('refuses %s', (_title, args) => {
    const { status, stderr } = start(args);

    expect(status).toBe(1);
    expect(stderr).toMatch(/^error: .+\n$/);
  });

  test('says in one line that another run has the data directory', () => {
    const dataDir = mkdtempSync(join(root, 'used-'));
    writeFileSync(join(dataDir, 'local.json'), JSON.stringify({ pid: process.pid }));

    const { status, stdout, stderr } = start(['--data-dir', dataDir, '--port', '0']);

    expect(status).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^The local run did not start: A local run \(process \d+\) is using .+\n$/);
  });

  test('without a network says in one sentence what it needs on another platform', () => {
    const dataDir = join(root, 'elsewhere');

    const { status, stdout, stderr } = start(['--data-dir', dataDir, '--port', '0'], ON_ANOTHER_MACHINE);

    expect(status).toBe(1);
    expect(stdout).toBe('');
    const [installing, refused, ...more] = stderr.split('\n');
    expect(installing).toMatch(
      /^Installing @dynoxide\/freebsd-riscv64 \d.+, the local DynamoDB, into build\/\S+\.$/,
    );
    expect(refused).toMatch(
      new RegExp(
        '^The local run did not start: There is no built-in DynamoDB for freebsd-riscv64 \\(npm: .+\\): ' +
          'set DYNAMODB_ENDPOINT to any DynamoDB-compatible endpoint, such as DynamoDB Local\\.$',
      ),
    );
    expect(more).toEqual(['']);
    expect(existsSync(join(dataDir, 'run.lock'))).toBe(false);
  });
});
