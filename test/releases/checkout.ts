import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of this tree. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const git = (...args: string[]): string =>
  execFileSync('git', ['-C', ROOT, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** The commit of a tag, or a commit itself; undefined when the repository lacks it, as a shallow clone may, or there is no repository. */
export const commitOf = (revision: string): string | undefined => {
  try {
    return git('rev-parse', '--verify', '--quiet', `${revision}^{commit}`).trim();
  } catch {
    return undefined;
  }
};

/** A checkout of a commit, with the packages of that commit. */
export interface Checkout {
  tree: string;
  remove(): void;
}

/** Checks a commit out into a temporary folder, and installs its packages. Throws when there is none. */
export const checkOut = (commit: string): Checkout => {
  const folder = mkdtempSync(join(tmpdir(), 'release-'));
  const tree = join(folder, 'tree');
  git('worktree', 'add', '--detach', tree, commit);
  // It may need packages that this tree no longer has.
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline'], { cwd: tree, stdio: 'pipe' });
  const remove = (): void => {
    git('worktree', 'remove', '--force', tree);
    rmSync(folder, { recursive: true });
  };
  return { tree, remove };
};
