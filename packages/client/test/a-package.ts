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

/** Packs the package as it is published; returns the path of the tarball, in `folder`. */
export const packPackage = (folder: string): string => {
  const printed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], {
    cwd: here,
    encoding: 'utf8',
  });
  return join(folder, printed.trim().split('\n').at(-1) ?? '');
};

/** Makes `folder` a project that has the package from its tarball, and returns the package's own folder. */
export const installTarball = (folder: string, tarball: string): string => {
  const own = join(folder, 'node_modules/@generation-service/client');
  mkdirSync(own, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', own, '--strip-components=1']);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  return own;
};

/** The code blocks of the README in order. */
export const codeBlocksOf = (readme: string): string[] =>
  [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) => code);
