import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { bundlePages } from './bundle-pages.ts';
import { leanPackages } from './lean-packages.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Folders of `functions/`; each file is the entry point of one function. */
const ENTRY_FOLDERS = ['api', 'workflow', 'events', 'media'];

/** The function that stands in for the providers comes from the sandbox, not from `functions/`. */
const SANDBOX = {
  [join('sandbox', 'answer-as-providers', 'index')]: join(root, 'packages/sandbox/src/function/index.ts'),
};

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
 * function by its name (`api/get-balance`). The AWS SDK is included at the version of the lock file, in its ES
 * build, which tree-shakes and loads in about half the time, without what no function uses of it (`leanPackages`). `require` is defined for the few CommonJS packages. Beside the
 * function that publishes the public pages lie those.
 */
export const bundleFunctions = async (outputFolder: string): Promise<(name: string) => string> => {
  await build({
    entryPoints: entryPoints(),
    outdir: outputFolder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    plugins: [leanPackages],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    legalComments: 'none',
    logLevel: 'warning',
  });
  await bundlePages(join(outputFolder, 'events', 'publish-pages'));
  return (name) => join(outputFolder, name);
};
