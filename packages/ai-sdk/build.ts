import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'));
const node = (...script: string[]): void => {
  execFileSync(process.execPath, script, { stdio: 'inherit' });
};

/** Writes the types, which name those of the client as it is published. */
const buildTypes = (folder: string): void => {
  const scratch = mkdtempSync(join(tmpdir(), 'ai-sdk-types-'));
  try {
    node(join(here, '../client/build.ts'), join(scratch, 'client'));
    const config = {
      extends: join(here, 'tsconfig.json'),
      compilerOptions: {
        rootDir: join(here, 'src'),
        typeRoots: [join(here, '../../node_modules/@types')],
        paths: { '@generation-service/client': [join(scratch, 'client/index.d.ts')] },
        ...{ noEmit: false, declaration: true, emitDeclarationOnly: true, outDir: folder },
      },
      include: [join(here, 'src')],
    };
    writeFileSync(join(scratch, 'tsconfig.json'), JSON.stringify(config));
    node(join(typescript, 'bin/tsc'), '-p', join(scratch, 'tsconfig.json'));
  } finally {
    rmSync(scratch, { recursive: true });
  }
  // The compiler leaves the names of the sources in the types.
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.d.ts'))) {
    const file = join(folder, name);
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"));
  }
};

/** Builds the package: one module, legible in a trace, with its source map, and the types. */
const buildPackage = async (folder: string): Promise<void> => {
  rmSync(folder, { recursive: true, force: true });
  await build({
    entryPoints: [join(here, 'src/index.ts')],
    outdir: folder,
    bundle: true,
    sourcemap: true,
    format: 'esm',
    platform: 'neutral',
    external: ['@ai-sdk/provider', '@generation-service/client'],
    target: 'es2022',
  });
  buildTypes(folder);
};

await buildPackage(process.argv[2] ?? join(here, 'build'));
