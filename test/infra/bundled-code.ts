import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

/** Our code in each bundle, after the function's name: the entry point and what it imports, tree-shaken, without packages. */
export const bundleCode = (): [name: string, code: string][] => {
  const folder = fileURLToPath(new URL('../../functions/', import.meta.url));
  const { outputFiles } = buildSync({
    entryPoints: ['api', 'workflow', 'events', 'media'].flatMap((group) =>
      readdirSync(folder + group).map((file) => `${folder}${group}/${file}`),
    ),
    outdir: folder,
    bundle: true,
    write: false,
    packages: 'external',
    platform: 'node',
    target: 'node24',
    format: 'esm',
    legalComments: 'none',
    logLevel: 'warning',
  });
  return outputFiles.map(({ path, text }) => [path.slice(folder.length).replace(/\.js$/, ''), text]);
};
