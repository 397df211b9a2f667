import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The version of the service, as `package.json` has it. */
export const VERSION: string = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
).version;

/**
 * The commit of these sources, shortened, with `-dirty` when files differ from it. Undefined without Git, and where the sources are no
 * checkout, even if a folder above is one.
 */
export const findCommit = (folder: string = root): string | undefined => {
  const { status, stdout } = spawnSync(
    'git',
    ['describe', '--always', '--dirty', '--abbrev=12', '--exclude=*'],
    {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, GIT_CEILING_DIRECTORIES: dirname(folder.replace(/\/$/, '')) },
    },
  );
  return status === 0 ? stdout.trim() : undefined;
};
