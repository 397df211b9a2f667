import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../contract/support/client.ts';
import { isRunning, type NpmProcess, startByNpm } from '../contract/support/npm-process.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const START_MILLISECONDS = 150_000;

let folder: string;
const started: NpmProcess[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'npm-start-'));
});
afterAll(async () => {
  for (const { descendants } of started) for (const pid of descendants()) process.kill(pid, 'SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

const start = (
  project: string,
  name: string,
  environment: Record<string, string> = {},
): NpmProcess & { dataDir: string } => {
  const dataDir = join(folder, name);
  const args = ['--port', '0', '--data-dir', dataDir, '--plain-images'];
  const run = startByNpm(project, args, environment);
  started.push(run);
  return { ...run, dataDir };
};

/** Expects that nothing of a run is left: no process, and no lock that a next start would meet. */
const expectEnded = async (run: NpmProcess & { dataDir: string }, pids: number[]): Promise<void> => {
  expect(pids.length).toBeGreaterThan(0);
  await eventually(
    async () => pids.filter(isRunning),
    (left) => left.length === 0,
  );
  expect(existsSync(join(run.dataDir, 'local.json'))).toBe(false);
  expect(existsSync(join(run.dataDir, 'run.lock'))).toBe(false);
};

describe('A signal to npm start ends everything it started', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s to npm alone',
    async (signal) => {
      const run = start(ROOT, signal);
      await run.line('ready ');
      const pids = run.descendants();
      // Node.js, the DynamoDB engine, and its guard.
      expect(pids.length).toBeGreaterThanOrEqual(3);

      run.child.kill(signal);

      expect(await run.exited).toBe(0);
      await expectEnded(run, pids);
    },
    START_MILLISECONDS,
  );

  test(
    'Ctrl-C, which a terminal sends to npm and to its program, is one signal',
    async () => {
      const run = start(ROOT, 'ctrl-c');
      await run.line('ready ');
      const pids = run.descendants();

      process.kill(-(run.child.pid ?? 0), 'SIGINT');

      expect(await run.exited).toBe(0);
      await expectEnded(run, pids);
    },
    START_MILLISECONDS,
  );

  test(
    'SIGTERM before the run is ready',
    async () => {
      const run = start(ROOT, 'early');
      await eventually(
        async () => existsSync(join(run.dataDir, 'run.lock')),
        (isLocked) => isLocked,
      );
      const pids = run.descendants();

      run.child.kill('SIGTERM');

      expect(await run.exited).toBe(0);
      await expectEnded(run, pids);
    },
    START_MILLISECONDS,
  );
});

/** A copy of this project whose modules have no DynamoDB engine, as on another platform. */
const copyWithoutEngine = async (): Promise<string> => {
  const project = join(folder, 'project');
  const left = ['node_modules', '.git', 'build', 'out', '.local', 'cdk.out'].map((name) => join(ROOT, name));
  await cp(ROOT, project, { recursive: true, filter: (source) => !left.includes(source) });
  const modules = join(project, 'node_modules');
  await mkdir(join(modules, '@generation-service'), { recursive: true });
  for (const name of await readdir(join(ROOT, 'node_modules'))) {
    if (name === '@dynoxide' || name === '@generation-service') continue;
    await symlink(join(ROOT, 'node_modules', name), join(modules, name));
  }
  for (const name of await readdir(join(project, 'packages'))) {
    await symlink(join(project, 'packages', name), join(modules, '@generation-service', name));
  }
  return project;
};

const hasRegistry = await fetch('https://registry.npmjs.org/@dynoxide%2flinux-x64', { method: 'HEAD' }).then(
  ({ ok }) => ok,
  () => false,
);
if (!hasRegistry) console.warn("npm's registry cannot be reached: no engine is installed.");

(hasRegistry ? test : test.skip)(
  'A first start without the packaged engine installs it, says so in one line, and the next one finds it',
  async () => {
    const project = await copyWithoutEngine();
    const first = start(project, 'first');
    await first.line('ready ');
    first.child.kill('SIGTERM');
    expect(await first.exited).toBe(0);

    const folderName = `build/dynoxide-1.2.1-${process.platform}-${process.arch}`;
    expect(first.errors()).toBe(
      `Installing @dynoxide/${process.platform}-${process.arch} 1.2.1, the local DynamoDB, into ${folderName}.\n`,
    );
    expect(await readdir(join(project, 'build'))).toEqual([folderName.slice('build/'.length)]);

    // It needs no registry.
    const next = start(project, 'next', { npm_config_registry: 'http://127.0.0.1:9' });
    await next.line('ready ');
    next.child.kill('SIGTERM');
    expect(await next.exited).toBe(0);
    expect(next.errors()).toBe('');
  },
  2 * START_MILLISECONDS,
);
