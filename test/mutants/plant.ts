import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Planting } from './mutant.ts';

/** The project's root. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A copy of the project in a temporary folder, with the project's own `node_modules`. */
export interface Copy {
  root: string;
  /** Jest's cache of this copy. The cache goes with the copy, so no text of a mutant outlives the mutant. */
  cache: string;
}

/** Names that a copy does without. */
const LEFT_OUT = new Set(['.git', 'node_modules', 'build', 'cdk.out', '.local', 'out']);

/** Copies the work tree as it is now. The copy is removed when this process exits. */
export const copyProject = (): Copy => {
  const folder = mkdtempSync(join(tmpdir(), 'mutants-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const root = join(folder, 'project');
  cpSync(ROOT, root, { recursive: true, filter: (path) => !LEFT_OUT.has(basename(path)) });
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  return { root, cache: join(folder, 'cache') };
};

/** Runs `use` while the bug is in the copy, and takes it out again. Nothing is planted without a mutant. */
export const withPlanted = async <T>(
  { root }: Copy,
  planting: Planting | undefined,
  use: () => Promise<T>,
): Promise<T> => {
  if (!planting) return use();
  const path = join(root, planting.file);
  const source = readFileSync(path, 'utf8');
  writeFileSync(path, planting.plantedIn(source));
  try {
    return await use();
  } finally {
    writeFileSync(path, source);
  }
};
