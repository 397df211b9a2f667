import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The programs as their users install them; several versions of a package have names of their own. */
const PROGRAMS = {
  openai400: 'npm:openai@4.0.0',
  openai4: 'npm:openai@4.104.0',
  openai5: 'npm:openai@5.23.2',
  openai6: 'npm:openai@6.49.0',
  openai7: 'npm:openai@7.57.0',
  ai4: 'npm:ai@4.3.19',
  ai5: 'npm:ai@5.0.277',
  ai6: 'npm:ai@6.0.326',
  ai7: 'npm:ai@7.0.173',
  'ai-openai-4': 'npm:@ai-sdk/openai@1.3.24',
  'ai-openai-5': 'npm:@ai-sdk/openai@2.0.131',
  'ai-openai-6': 'npm:@ai-sdk/openai@3.0.141',
  'ai-openai-7': 'npm:@ai-sdk/openai@4.0.118',
  'ai-compatible-4': 'npm:@ai-sdk/openai-compatible@0.2.16',
  'ai-compatible-5': 'npm:@ai-sdk/openai-compatible@1.0.61',
  'ai-compatible-6': 'npm:@ai-sdk/openai-compatible@2.0.92',
  'ai-compatible-7': 'npm:@ai-sdk/openai-compatible@3.0.92',
  '@langchain/core': '1.4.0',
  '@langchain/openai': '1.5.8',
  '@tanstack/ai': '0.58.0',
  '@tanstack/ai-openai': '0.23.1',
  zod: '3.25.76',
};

/** The folder of the installed programs. */
export const FOLDER = fileURLToPath(new URL('../../../build/openai-programs', import.meta.url));

const MANIFEST = JSON.stringify({ private: true, type: 'module', dependencies: PROGRAMS });
const OPTIONS = ['--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund', '--prefer-offline'];
const NO_NETWORK = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT/;

/** Installs the programs from npm, once for a list of versions. False without npm or its registry; throws when the installation fails. */
export const installPrograms = (): boolean => {
  const installed = join(FOLDER, 'installed.json');
  if (existsSync(installed) && readFileSync(installed, 'utf8') === MANIFEST) return true;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, 'package.json'), MANIFEST);
  const { status, error, stderr } = spawnSync('npm', ['install', ...OPTIONS], {
    cwd: FOLDER,
    encoding: 'utf8',
    timeout: 300_000,
  });
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return false;
  if (status !== 0 && NO_NETWORK.test(stderr)) return false;
  if (status !== 0) throw new Error(`The programs could not be installed: ${error?.message ?? stderr}`);
  writeFileSync(installed, MANIFEST);
  return true;
};
