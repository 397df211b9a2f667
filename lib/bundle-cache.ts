import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleFunctions } from './bundle-functions.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Everything a bundle is made from: our own sources, and the versions of everything else. */
const INPUTS = ['functions', 'core', 'providers', 'lib/bundle-functions.ts', 'package-lock.json'];
const CACHE = join(root, 'node_modules', '.cache', 'generation-service', 'bundles');
/** How many sets of bundles are kept, the newest: going back to a branch finds its own. */
const KEPT = 3;

const filesUnder = (path: string): string[] =>
  statSync(path).isDirectory()
    ? readdirSync(path)
        .sort()
        .flatMap((name) => filesUnder(join(path, name)))
    : [path];

const inputsDigest = (): string => {
  const digest = createHash('sha256');
  for (const path of INPUTS.flatMap((input) => filesUnder(join(root, input)))) {
    digest
      .update(`${path.slice(root.length)}\0`)
      .update(readFileSync(path))
      .update('\0');
  }
  return digest.digest('hex').slice(0, 32);
};

/**
 * The bundles of all functions as `bundleFunctions` makes them, made once for the same sources: bundling is the
 * largest part of a synthesis, and every start of a local run is one. Safe with several processes at once: a set
 * appears whole, under the digest of what it was made from.
 */
export const cachedBundles = async (): Promise<(name: string) => string> => {
  const folder = join(CACHE, inputsDigest());
  if (!existsSync(folder)) {
    const own = join(CACHE, `making-${randomUUID()}`);
    await bundleFunctions(own);
    try {
      renameSync(own, folder);
    } catch (error) {
      // Another process was faster, with the same result.
      if (!existsSync(folder)) throw error;
      rmSync(own, { recursive: true });
    }
    removeOldest();
  }
  return (name) => join(folder, name);
};

const removeOldest = (): void => {
  const sets = readdirSync(CACHE)
    .filter((name) => !name.startsWith('making-'))
    .map((name) => ({ path: join(CACHE, name), madeAt: statSync(join(CACHE, name)).mtimeMs }))
    .sort((a, b) => b.madeAt - a.madeAt);
  for (const { path } of sets.slice(KEPT)) rmSync(path, { recursive: true, force: true });
};
