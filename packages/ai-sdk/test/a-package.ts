import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPackage } from '../../client/test/a-package.ts';

const here = fileURLToPath(new URL('..', import.meta.url));

/**
 * Makes `folder` a project with the package from its tarball. The client and the packages that `ai` needs are linked
 * from this project's modules. Returns the package's folder.
 */
export const installProvider = (folder: string): string => {
  const printed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: here });
  const tarball = printed.toString().trim().split('\n').at(-1) ?? '';
  installPackage(folder);
  const own = join(folder, 'node_modules/@generation-service/ai-sdk');
  mkdirSync(own, { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, tarball), '-C', own, '--strip-components=1']);
  mkdirSync(join(folder, 'node_modules/@ai-sdk'), { recursive: true });
  for (const name of ['ai', '@ai-sdk/provider', '@types']) {
    symlinkSync(join(here, '../../node_modules', name), join(folder, 'node_modules', name));
  }
  return own;
};
