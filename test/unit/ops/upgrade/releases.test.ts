import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createReleases, type Releases } from '../../../../ops/upgrade/releases.ts';

let folder: string;
let root: string;
let work: string;
let releases: Releases;

const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
    cwd: root,
    encoding: 'utf8',
  });

/** A toolkit that writes down where it was called, and how. */
const TOOLKIT = `#!/bin/sh
echo "$PWD: $*" >> "$CALLS"
if [ "$1" = destroy ]; then echo 'Failed: a bucket is not empty'; exit 1; fi
`;
const manifest = (version: string) =>
  JSON.stringify({ name: 'a', version, dependencies: { cdk: 'file:cdk' } });
const LOCK = {
  name: 'a',
  lockfileVersion: 3,
  packages: {
    '': { name: 'a', dependencies: { cdk: 'file:cdk' } },
    cdk: { version: '1.0.0', bin: { cdk: 'cdk.sh' } },
    'node_modules/cdk': { resolved: 'cdk', link: true },
  },
};

const shell = { ...process.env };
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'releases-'));
  root = join(folder, 'root');
  work = join(folder, 'work');
  process.env.CALLS = join(folder, 'calls');
  mkdirSync(join(root, 'cdk'), { recursive: true });
  mkdirSync(work);
  writeFileSync(join(root, 'cdk', 'cdk.sh'), TOOLKIT, { mode: 0o755 });
  writeFileSync(
    join(root, 'cdk', 'package.json'),
    JSON.stringify({ name: 'cdk', version: '1.0.0', bin: { cdk: 'cdk.sh' } }),
  );
  writeFileSync(join(root, 'package.json'), manifest('1.0.0'));
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify(LOCK));
  writeFileSync(join(root, '.gitignore'), 'node_modules\n');
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message', 'a');
  git('tag', 'v1.0.0');
  writeFileSync(join(root, 'package.json'), manifest('1.1.0-dev'));
  mkdirSync(join(root, 'node_modules', '.bin'), { recursive: true });
  writeFileSync(join(root, 'node_modules', '.bin', 'cdk'), TOOLKIT, { mode: 0o755 });
  releases = createReleases(root, work, { stackName: 'Mine', providers: 'sandbox' });
});
afterEach(() => {
  rmSync(folder, { recursive: true });
  process.env = { ...shell };
});

const calls = (): string[] => readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');

test('a tag is synthesized and deployed from its own checkout, by its own toolkit; these sources from theirs', async () => {
  const from = await releases.checkOut('v1.0.0');
  const to = await releases.present();
  await releases.deploy(from);
  await releases.deploy(to);

  const context = '-c stackName=Mine -c providers=sandbox';
  expect([from.version, to.version]).toEqual(['1.0.0', '1.1.0-dev']);
  expect(calls()).toEqual([
    `${work}/from: synth --quiet --output ${work}/assembly-from ${context}`,
    `${root}: synth --quiet --output ${work}/assembly-to ${context}`,
    `${work}/from: deploy --app ${work}/assembly-from --require-approval never --ci --all`,
    `${root}: deploy --app ${work}/assembly-to --require-approval never --ci --all`,
  ]);
});

test('what a tool says about its failure is in the error, all of it in the log', async () => {
  const to = await releases.present();

  await expect(releases.destroy(to)).rejects.toThrow(/ended with 1: Failed: a bucket is not empty All of it/);
  expect(readFileSync(join(work, 'log.txt'), 'utf8')).toContain('Failed: a bucket is not empty');
});

test('the removal leaves the log alone, and no checkout that Git knows', async () => {
  await releases.checkOut('v1.0.0');
  await releases.remove();

  expect(existsSync(join(work, 'log.txt'))).toBe(true);
  expect(existsSync(join(work, 'from'))).toBe(false);
  expect(git('worktree', 'list').trim().split('\n')).toHaveLength(1);
});
