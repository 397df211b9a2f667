import { execFile } from 'node:child_process';
import { accessSync, chmodSync, constants, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const PACKAGE = fileURLToPath(new URL('../../../', import.meta.url));
const PROJECT = fileURLToPath(new URL('../../../../../', import.meta.url));
const INSTALL_TIMEOUT_MILLIS = 120_000;

/** Dynoxide is not installed and cannot be, and no other DynamoDB endpoint was given. */
export class NoDynamoDbEngineError extends Error {
  override readonly name = 'NoDynamoDbEngineError';
}

/** The name of dynoxide's package for this machine. */
const packageName = (): string => `@dynoxide/${process.platform}-${process.arch}`;

/** The one version of all its packages: that of the package for Linux x64, which stands in the lock file. */
const pinnedVersion = (): string => {
  const manifest = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as {
    optionalDependencies: Record<string, string>;
  };
  return manifest.optionalDependencies['@dynoxide/linux-x64'] ?? '';
};

/** The folder of the package that `npm ci` installed; undefined where there is none. */
const findPackaged = (): string | undefined => {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${packageName()}/package.json`));
  } catch {
    return undefined;
  }
};

/** The reason in what npm printed to standard error. */
const reasonIn = (error: unknown): string => {
  const { stderr = '', message = '' } = error as { stderr?: string; message?: string };
  const lines = stderr.split('\n').map((line) => line.replace(/^npm (error|ERR!) ?/, '').trim());
  const [reason = message] = lines.filter((line) => line !== '' && !/^(code|errno|syscall) /.test(line));
  return reason.replace(/\.$/, '');
};

/** Installs a package into a folder by npm. Rejects with what npm says. */
const installByNpm = async (spec: string, folder: string, signal: AbortSignal | undefined): Promise<void> => {
  const quiet = ['--no-save', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'];
  // Without a network npm would try again for a minute.
  const args = ['install', '--prefix', folder, ...quiet, '--ignore-scripts', '--fetch-retries=0', spec];
  const limits = { timeout: INSTALL_TIMEOUT_MILLIS, ...(signal && { signal }) };
  await promisify(execFile)('npm', args, { cwd: folder, ...limits });
};

/** Installs dynoxide's package into `folder`, whole or not at all, also when several processes do so at once. */
const install = async (folder: string, spec: string, signal: AbortSignal | undefined): Promise<void> => {
  mkdirSync(dirname(folder), { recursive: true });
  const unfinished = await mkdtemp(`${folder}-`);
  try {
    await installByNpm(spec, unfinished, signal);
    await rename(unfinished, folder).catch((error: NodeJS.ErrnoException) => {
      // Another process was faster.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
};

/** The folder of the package in the project's build folder, where it is installed when it is missing. */
const findOrInstall = async (signal: AbortSignal | undefined): Promise<string> => {
  const [name, version] = [packageName(), pinnedVersion()];
  const folder = join(PROJECT, 'build', `dynoxide-${version}-${process.platform}-${process.arch}`);
  const installed = join(folder, 'node_modules', name);
  if (existsSync(join(installed, 'package.json'))) return installed;
  console.error(`Installing ${name} ${version}, the local DynamoDB, into ${relative(PROJECT, folder)}.`);
  try {
    await install(folder, `${name}@${version}`, signal);
  } catch (cause) {
    throw new NoDynamoDbEngineError(
      `There is no built-in DynamoDB for ${process.platform}-${process.arch} (npm: ${reasonIn(cause)}): set DYNAMODB_ENDPOINT to any DynamoDB-compatible endpoint, such as DynamoDB Local.`,
      { cause },
    );
  }
  return installed;
};

/**
 * The path of dynoxide's binary: that of the installed package, else of the package that a first call installs by npm. Throws
 * `NoDynamoDbEngineError` where npm cannot install one, or when `signal` aborts it.
 */
export const obtainDynoxide = async (signal?: AbortSignal): Promise<string> => {
  const folder = findPackaged() ?? (await findOrInstall(signal));
  const binary = join(folder, process.platform === 'win32' ? 'dynoxide.exe' : 'dynoxide');
  try {
    accessSync(binary, constants.X_OK);
  } catch {
    // Some package managers drop the executable bit.
    chmodSync(binary, 0o755);
  }
  return binary;
};
