import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { VERSION } from '../../../../lib/release.ts';
import { knownVersions, releaseCommit } from '../../../../ops/upgrade/release-commits.ts';
import { readDocument } from '../../docs/documents.ts';

const PROJECT = fileURLToPath(new URL('../../../../', import.meta.url));
let root: string;
let first: string;
const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
    cwd: root,
    encoding: 'utf8',
  }).trim();

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'release-commits-'));
  git('init', '--quiet');
  git('commit', '--quiet', '--allow-empty', '--message', 'a release');
  first = git('rev-parse', 'HEAD');
  git('commit', '--quiet', '--allow-empty', '--message', 'after it');
  const folder = join(root, 'test', 'releases', '1.2.0');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'commit'), `${first}\n`);
});
afterEach(() => rmSync(root, { recursive: true }));

describe('the commit of a release', () => {
  test.each(['1.2.0', 'v1.2.0'])('is found by its version %s in a repository without tags', (version) => {
    expect(releaseCommit(root, version)).toBe(first);
  });

  test('may be given itself, or by a tag', () => {
    git('tag', 'trial', first);

    expect([first, first.slice(0, 10), 'trial', 'HEAD~1'].map((given) => releaseCommit(root, given))).toEqual(
      Array(4).fill(first),
    );
  });

  test.each(['9.9.9', 'v9.9.9', 'nothing', '0123456789', '--help'])(
    'refuses %s in the words of git, and names the versions that are there',
    (release) => {
      expect(() => releaseCommit(root, release)).toThrow(/fatal: .*1\.2\.0/s);
    },
  );
});

test('Every released version that a document names has a commit here', () => {
  const named = ['CHANGELOG.md', 'README.md', 'CONTRIBUTING.md', 'docs/operating.md'].flatMap((document) =>
    [...readDocument(document).matchAll(/(?:^## \[|--from v?)(\d+\.\d+\.\d+)/gm)].map(
      ([, version]) => version,
    ),
  );

  // The commit of a release cannot name itself.
  const known = [VERSION, ...knownVersions(PROJECT)];
  expect(named.filter((version) => !known.includes(version ?? ''))).toEqual([]);
  for (const version of knownVersions(PROJECT)) {
    const recorded = readFileSync(join(PROJECT, 'test/releases', version, 'commit'), 'utf8').trim();
    expect(recorded).toMatch(/^[0-9a-f]{40}$/);
    expect(readDocument('CHANGELOG.md')).toContain(recorded.slice(0, 8));
    if (hasHistory()) expect(releaseCommit(PROJECT, version)).toBe(recorded);
  }
});

/** Whether the earlier commits are here: a shallow clone, as some CI makes, and a copy without `.git` have none. */
const hasHistory = (): boolean => {
  const args = ['-C', PROJECT, 'rev-parse', '--is-shallow-repository'];
  const { stdout, stderr } = spawnSync('git', args, { encoding: 'utf8' });
  if (stdout.trim() === 'false') return true;
  console.warn(`The commits of releases are not looked up: ${stderr.trim() || 'this clone is shallow'}.`);
  return false;
};
