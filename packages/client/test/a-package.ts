import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('..', import.meta.url));

/** Makes `folder` a project that has the package as npm packs it, and returns the package's own folder. */
export const installPackage = (folder: string): string => {
  const own = join(folder, 'node_modules/@generation-service/client');
  mkdirSync(own, { recursive: true });
  for (const file of ['package.json', 'README.md']) cpSync(join(here, file), join(own, file));
  execFileSync(process.execPath, [join(here, 'build.ts'), join(own, 'build')], {
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  return own;
};

/** The code blocks of the README in order. */
export const codeBlocksOf = (readme: string): string[] =>
  [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) => code);
