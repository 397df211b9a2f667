import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Syntax that Chromium, Firefox and Safari have since 2024, when the last of them learned `light-dark()`. */
const BROWSERS = ['chrome123', 'firefox120', 'safari17.5'];

/**
 * The console's script and style sheet, by the names of their files. Rules that it shares with the service are bundled from `core/`; what
 * those need of Node.js is `console/node-net.ts`.
 */
export const bundleConsole = async (): Promise<Record<string, Uint8Array>> => {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'console/main.tsx'), join(root, 'console/console.css')],
    entryNames: 'console',
    outdir: root,
    write: false,
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    target: BROWSERS,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    alias: { 'node:net': join(root, 'console/node-net.ts') },
    // Their licenses ask to be named.
    legalComments: 'eof',
    logLevel: 'warning',
  });
  return Object.fromEntries(outputFiles.map(({ path, contents }) => [path.slice(root.length), contents]));
};
