import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TargetError } from '../target.ts';

/** The folders of released versions, each with the commit of its release: a copy of the repository may have no tags. */
const RELEASES = join('test', 'releases');

/** The versions whose commits these sources know, such as `0.2.0`. */
export const knownVersions = (root: string): string[] =>
  readdirSync(join(root, RELEASES), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(root, RELEASES, entry.name, 'commit')))
    .map(({ name }) => name);

/**
 * The commit of a release: of a version, with or without `v`, as recorded in `test/releases`, or else of any tag or commit of the repository in
 * `root`. Throws `TargetError`, with git's own words, when there is none.
 */
export const releaseCommit = (root: string, release: string): string => {
  const version = release.replace(/^v(?=\d)/, '');
  const recorded = knownVersions(root).find((known) => known === version);
  const revision =
    recorded === undefined ? release : readFileSync(join(root, RELEASES, recorded, 'commit'), 'utf8').trim();
  try {
    return git(root, ['rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`]);
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    const versions = knownVersions(root).join(', ') || 'none';
    throw new TargetError(
      `There is no release ${release} here: ${stderr.trim()}. Give a commit, or a version of test/releases (${versions}). A shallow clone lacks commits: git fetch --unshallow.`,
    );
  }
};

const git = (root: string, args: readonly string[]): string =>
  execFileSync('git', ['-C', root, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
