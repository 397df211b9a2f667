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

/** A checkout of a release's tag, with links to the packages of this tree. */
export interface Checkout {
  tree: string;
  remove(): void;
}

/** Checks the tag of a release out into a temporary folder. Throws when there is none. */
export const checkOut = (version: string): Checkout => {
  const folder = mkdtempSync(join(tmpdir(), 'release-'));
  const tree = join(folder, 'tree');
  git('worktree', 'add', '--detach', tree, `v${version}`);
  execFileSync('cp', ['-al', join(ROOT, 'node_modules'), join(tree, 'node_modules')]);
  const remove = (): void => {
    git('worktree', 'remove', '--force', tree);
    rmSync(folder, { recursive: true });
  };
  return { tree, remove };
};
