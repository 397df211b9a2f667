import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Syntax that Chromium, Firefox and Safari have since 2024, when the last of them learned `light-dark()`. */
const BROWSERS = ['chrome123', 'firefox120', 'safari17.5'];

/**
 * The console's page, script, style sheet, and licenses of bundled packages, by file name. Rules shared with the
 * service are bundled from `core/`; `console/node-net.ts`, `node-url.ts`, `ipaddr.ts` and `zod-mini.ts` stand in for the modules that they import.
 */
export const bundleConsole = async (): Promise<Record<string, string | Uint8Array>> => {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['console/main.tsx', 'console/console.css'],
    entryNames: 'console',
    outdir: root,
    write: false,
    metafile: true,
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    target: BROWSERS,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    alias: {
      'node:net': join(root, 'console/node-net.ts'),
      'node:url': join(root, 'console/node-url.ts'),
      'ipaddr.js': join(root, 'console/ipaddr.ts'),
      'zod/mini': join(root, 'console/zod-mini.ts'),
    },
    banner: { js: '/* Licenses of the packages in it: /console/licenses.txt */' },
    legalComments: 'none',
    logLevel: 'warning',
    // A stand-in lacks what the service's rules use.
    logOverride: { 'import-is-undefined': 'error' },
  });
  return {
    'console.html': readFileSync(join(root, 'console/index.html')),
    ...Object.fromEntries(outputFiles.map(({ path, contents }) => [path.slice(root.length), contents])),
    'console.licenses.txt': licensesOf(Object.keys(metafile.inputs)),
  };
};

/** The licenses of the packages that these files belong to. Throws for a package without one. */
const licensesOf = (files: readonly string[]): string => {
  const folders = files.flatMap((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
  return [...new Set(folders)]
    .sort()
    .map((folder) => {
      const license = readdirSync(join(root, folder)).find((name) => /^licen[cs]e/i.test(name));
      if (license === undefined) throw new Error(`${folder} has no license.`);
      const name = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
      return `${name}\n\n${readFileSync(join(root, folder, license), 'utf8').trim()}\n`;
    })
    .join('\n---\n\n');
};
