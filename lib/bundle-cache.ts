import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ModelData } from '../core/models/model-data.ts';
import { bundleFunctions } from './bundle-functions.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The inputs of a bundle: our sources, and the lock file for all packages. */
const INPUTS = [
  'functions',
  'core',
  'providers',
  'packages/media/src',
  'packages/sandbox/src',
  'console',
  'packages/client/src',
  'lib/pages',
  'docs/openapi.json',
  'package-lock.json',
  'lib/bundle-functions.ts',
  'lib/bundle-pages.ts',
  'lib/bundle-console.ts',
  'lib/bundled-catalog.ts',
  'lib/lean-packages.ts',
];
const CACHE = join(root, 'node_modules', '.cache', 'generation-service', 'bundles');
/** Number of bundle sets kept, newest first, so that switching branches finds an earlier set. */
const KEPT = 3;
const TEMPORARY_PREFIX = 'making-';

const filesUnder = (path: string): string[] =>
  statSync(path).isDirectory()
    ? readdirSync(path)
        .sort()
        .flatMap((name) => filesUnder(join(path, name)))
    : [path];

const inputsDigest = (ownModels: readonly ModelData[]): string => {
  const digest = createHash('sha256').update(JSON.stringify(ownModels));
  for (const path of INPUTS.flatMap((input) => filesUnder(join(root, input)))) {
    digest
      .update(`${path.slice(root.length)}\0`)
      .update(readFileSync(path))
      .update('\0');
  }
  return digest.digest('hex').slice(0, 32);
};

/**
 * Bundles the functions as `bundleFunctions` does, once for the same sources and own models: bundling is most of a
 * synthesis, and every local run synthesizes. Safe for concurrent processes: a set of bundles is renamed into place,
 * under the digest of its inputs. Returns the folder of a function's bundle by its name.
 */
export const cachedBundles = async (
  ownModels: readonly ModelData[] = [],
): Promise<(name: string) => string> => {
  const folder = join(CACHE, inputsDigest(ownModels));
  if (!existsSync(folder)) {
    const temporary = join(CACHE, `${TEMPORARY_PREFIX}${randomUUID()}`);
    await bundleFunctions(temporary, ownModels);
    try {
      renameSync(temporary, folder);
    } catch (error) {
      // Another process finished first, with the same result.
      if (!existsSync(folder)) throw error;
      rmSync(temporary, { recursive: true });
    }
    removeOldest();
  }
  return (name) => join(folder, name);
};

const removeOldest = (): void => {
  const sets = readdirSync(CACHE)
    .filter((name) => !name.startsWith(TEMPORARY_PREFIX))
    .map((name) => ({ path: join(CACHE, name), madeAt: statSync(join(CACHE, name)).mtimeMs }))
    .sort((a, b) => b.madeAt - a.madeAt);
  for (const { path } of sets.slice(KEPT)) rmSync(path, { recursive: true, force: true });
};
