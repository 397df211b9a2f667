import { cpSync, existsSync, readdirSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LIBAV_FILES, LIBAV_PACKAGE } from '@generation-service/media/libav';
import { build } from 'esbuild';
import type { ModelData } from '../core/models/model-data.ts';
import { bundlePages } from './bundle-pages.ts';
import { bundledCatalog } from './bundled-catalog.ts';
import { leanPackages } from './lean-packages.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Folders of `functions/`; each file is the entry point of one function. */
const ENTRY_FOLDERS = ['api', 'workflow', 'events', 'media'];

/** The function that stands in for the providers comes from the sandbox, not from `functions/`. */
const SANDBOX = {
  [join('sandbox', 'answer-as-providers', 'index')]: join(root, 'packages/sandbox/src/function/index.ts'),
};

/**
 * The functions that measure videos. The bundle of each also holds the module of its measuring thread and FFmpeg's
 * library.
 */
const VIDEO_FUNCTIONS = [join('media', 'measure-clips'), join('workflow', 'store-outputs')];
const VIDEO_WORKER = join(root, 'packages/media/src/video-worker.ts');

const entryPoints = (): Record<string, string> => ({
  ...SANDBOX,
  ...Object.fromEntries(
    ENTRY_FOLDERS.map((folder) => join(root, 'functions', folder))
      .filter((folder) => existsSync(folder))
      .flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)))
      .filter((file) => file.endsWith('.ts'))
      .map((file) => [join(bundleName(file), 'index'), file]),
  ),
});

/** `functions/api/get-balance.ts` → `api/get-balance`. */
const bundleName = (file: string): string =>
  file.slice(join(root, 'functions').length + 1).replace(/\.ts$/, '');

/** The names of all functions, each of which has a bundle. */
export const functionNames = (): string[] => Object.keys(entryPoints()).map(dirname);

/**
 * Bundles each function into one minified ES module, `<outputFolder>/<name>/index.mjs`. Returns the folder of a
 * function by its name (`api/get-balance`). The AWS SDK is included at the version of the lock file, in its ES build,
 * which tree-shakes and loads in about half the time. `leanPackages` removes parts of the SDK that no function uses.
 * `require` is defined for the few CommonJS packages. The bundle of `publish-pages` also holds the public pages. The
 * bundles of `VIDEO_FUNCTIONS` also hold the measuring thread's module and FFmpeg's demuxers, unchanged from their
 * package. The bundled catalog ends with the operator's own models.
 */
export const bundleFunctions = async (
  outputFolder: string,
  ownModels: readonly ModelData[] = [],
): Promise<(name: string) => string> => {
  await build({
    entryPoints: {
      ...entryPoints(),
      ...Object.fromEntries(VIDEO_FUNCTIONS.map((name) => [join(name, 'video-worker'), VIDEO_WORKER])),
    },
    outdir: outputFolder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    plugins: [leanPackages, bundledCatalog(ownModels)],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    legalComments: 'none',
    logLevel: 'warning',
  });
  await bundlePages(join(outputFolder, 'events', 'publish-pages'), ownModels);
  for (const name of VIDEO_FUNCTIONS) copyLibav(join(outputFolder, name));
  return (name) => join(outputFolder, name);
};

const copyLibav = (folder: string): void => {
  const description = findPackageJSON(LIBAV_PACKAGE, import.meta.url);
  if (description === undefined) throw new Error(`The package ${LIBAV_PACKAGE} is not installed.`);
  for (const file of LIBAV_FILES)
    cpSync(join(dirname(description), file), join(folder, 'node_modules', LIBAV_PACKAGE, file));
};
