import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'));

/** Builds the package: one module for each entry, legible in a trace, with its source map, and the types. */
const buildPackage = async (folder: string): Promise<void> => {
  rmSync(folder, { recursive: true, force: true });
  await build({
    entryPoints: ['index', 'node'].map((name) => join(here, `src/${name}.ts`)),
    outdir: folder,
    bundle: true,
    sourcemap: true,
    format: 'esm',
    // What the main entry needs, every platform has.
    platform: 'neutral',
    external: ['node:*'],
    target: 'es2022',
  });
  const declarations = ['--declaration', '--emitDeclarationOnly', '--noEmit', 'false', '--outDir', folder];
  execFileSync(
    process.execPath,
    [join(typescript, 'bin/tsc'), '-p', join(here, 'tsconfig.json'), ...declarations],
    { stdio: 'inherit' },
  );
  // The compiler leaves the names of the sources in the types.
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.d.ts'))) {
    const file = join(folder, name);
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/(from '\.\/\w+)\.ts'/g, "$1.js'"));
  }
};

await buildPackage(process.argv[2] ?? join(here, 'build'));
