import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DATA_FILES } from '@generation-service/local-aws';

/** The content of `local.json`. Users and tests rely on it. */
export interface LocalRunFile {
  baseUrl: string;
  /** The console with the token of the operator's endpoint, after `#`. */
  consoleUrl: string;
  apiKey: string;
  accountId: string;
  webhookSecret: string;
  awsEndpointUrl: string;
  tableName: string;
  bucketName: string;
  /** ARNs; a machine that the stack does not have is left out. */
  stateMachines: { generation?: string; expiry?: string; webhookDelivery?: string; verifyLedgers?: string };
  /** Null when every provider is the real one. */
  sandboxUrl: string | null;
  pid: number;
  /** The stack's outputs, by name. */
  outputs: Record<string, string>;
  /** The operator may make every call to the AWS endpoint. */
  operatorAccessKeyId: string;
  operatorSecretAccessKey: string;
}

/** The account that the first start creates. */
export interface FirstAccount {
  accountId: string;
  apiKey: string;
  webhookSecret: string;
}

/** Another run is using the data directory. */
class DataDirectoryInUseError extends Error {
  override name = 'DataDirectoryInUseError';
}

/** The data directory of a run, held by this process until `release`. */
export interface DataDirectory {
  path: string;
  file(name: string): string;
  readAccount(): FirstAccount | undefined;
  writeAccount(account: FirstAccount): void;
  /** The token of the operator's endpoint, made at the first call: pages that are open go on after a restart. */
  operatorToken(): string;
  /** Writes `local.json` to this directory or a folder of it, atomically, readable by its owner only. */
  writeRunFile(content: LocalRunFile, folder?: string): void;
  removeRunFile(): void;
  release(): void;
}

/** Everything a run keeps. `--reset` removes these and nothing else in the directory. */
const CONTENT = [...DATA_FILES, 'account.json', 'cdk.out', 'local.json', 'operator.json', 'starting'];

const LOCK = 'run.lock';

/** Whether a process has ended but its parent has not noticed. Always false where there is no `/proc`. */
const isZombie = (pid: number): boolean => {
  const file = `/proc/${pid}/stat`;
  return existsSync(file) && /\) [ZX] /.test(readFileSync(file, 'utf8'));
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    // EPERM: it exists but belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** The process id in a file: its whole text, or `pid` of its JSON. */
const pidIn = (file: string): number | undefined => {
  if (!existsSync(file)) return undefined;
  try {
    const content = JSON.parse(readFileSync(file, 'utf8'));
    const pid = Number(content?.pid ?? content);
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    // A crash cut the file short.
    return undefined;
  }
};

const refuseWhenUsed = (path: string) => {
  for (const name of [LOCK, 'local.json']) {
    const file = join(path, name);
    const pid = pidIn(file);
    if (pid !== undefined && isAlive(pid)) {
      throw new DataDirectoryInUseError(
        `A local run (process ${pid}) is using ${path}. Stop it or give another --data-dir; if that process is no local run, delete ${file}.`,
      );
    }
    rmSync(file, { force: true });
  }
};

const writeWhole = (file: string, content: unknown) => {
  writeFileSync(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  // The mode above applies to a new file only.
  chmodSync(`${file}.new`, 0o600);
  renameSync(`${file}.new`, file);
};

/**
 * Locks the directory for this process, and creates an absent one; other users of the machine cannot enter the
 * directory. Throws `DataDirectoryInUseError` while another live process holds the lock; clears the lock of a run
 * that died. `reset` removes what earlier runs kept.
 */
export const takeDataDirectory = (directory: string, { reset = false } = {}): DataDirectory => {
  const path = resolve(directory);
  const file = (name: string) => join(path, name);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  // The mode above applies to a new directory only.
  chmodSync(path, 0o700);
  refuseWhenUsed(path);
  try {
    writeFileSync(file(LOCK), String(process.pid), { flag: 'wx' });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
    throw new DataDirectoryInUseError(`Another local run is just starting on ${path}.`, { cause });
  }
  if (reset) for (const name of CONTENT) rmSync(file(name), { recursive: true, force: true });

  return {
    path,
    file,
    readAccount: () =>
      existsSync(file('account.json')) ? JSON.parse(readFileSync(file('account.json'), 'utf8')) : undefined,
    writeAccount: (account) => writeWhole(file('account.json'), account),
    operatorToken: () => {
      if (existsSync(file('operator.json')))
        return JSON.parse(readFileSync(file('operator.json'), 'utf8')).token;
      const token = randomBytes(24).toString('base64url');
      writeWhole(file('operator.json'), { token });
      return token;
    },
    writeRunFile: (content, folder = '') => {
      mkdirSync(file(folder), { recursive: true });
      writeWhole(join(path, folder, 'local.json'), content);
    },
    removeRunFile: () => rmSync(file('local.json'), { force: true }),
    release: () => rmSync(file(LOCK), { force: true }),
  };
};
