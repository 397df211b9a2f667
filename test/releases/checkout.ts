import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of this tree. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const git = (...args: string[]): string =>
  execFileSync('git', ['-C', ROOT, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** Whether the repository has the tag of a release. A shallow clone has none, and an archive is no repository. */
export const isTagged = (version: string): boolean => {
  try {
    return git('tag', '--list', `v${version}`).trim() !== '';
  } catch {
    return false;
  }
};

/** A checkout of a release's tag, with the packages of that release. */
export interface Checkout {
  tree: string;
  remove(): void;
}

/** Checks the tag of a release out into a temporary folder, and installs its packages. Throws when there is none. */
export const checkOut = (version: string): Checkout => {
  const folder = mkdtempSync(join(tmpdir(), 'release-'));
  const tree = join(folder, 'tree');
  git('worktree', 'add', '--detach', tree, `v${version}`);
  // It may need packages that this tree no longer has.
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline'], { cwd: tree, stdio: 'pipe' });
  const remove = (): void => {
    git('worktree', 'remove', '--force', tree);
    rmSync(folder, { recursive: true });
  };
  return { tree, remove };
};
