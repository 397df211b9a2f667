import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { npmStart } from './npm-start.ts';

/** Names the variable that tells a test process where the server of global set-up is. */
export const FIXTURES_URL = 'CONTRACT_FIXTURES_URL';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** What the tests use of a local run's `local.json`. */
export interface LocalService {
  baseUrl: string;
  consoleUrl: string;
  apiKey: string;
  accountId: string;
  pid: number;
  awsEndpointUrl: string;
  tableName: string;
  bucketName: string;
  stateMachines: { generation: string; expiry: string; webhookDelivery: string; verifyLedgers: string };
  sandboxUrl: string;
  operatorAccessKeyId: string;
  operatorSecretAccessKey: string;
  dataDir: string;
}

/** A local run that a test started for itself. */
export interface RunningService extends LocalService {
  process: ChildProcess;
  /** Sends a signal, by default SIGTERM, and waits for the exit; returns the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** How to start a local run. */
export interface StartOptions {
  /** CDK context, as with `-c`. */
  context?: Record<string, string | number>;
  reset?: boolean;
  /** Variables besides those of the test. */
  environment?: Record<string, string>;
  /** Called with each line it prints, up to the `ready` line. */
  onLine?: (line: string) => void;
}

const startArguments = (dataDir: string, { context = {}, reset = false }: StartOptions): string[] => [
  ...npmStart(),
  ...['--port', '0', '--data-dir', dataDir, '--plain-images'],
  ...Object.entries(context).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
  ...(reset ? ['--reset'] : []),
];

/** An empty folder for the data of a local run. */
export const newDataDir = (): Promise<string> => mkdtemp(join(tmpdir(), 'generation-service-contract-'));

/** Starts a local run on a free port and waits for its `ready` line, at most 110 s: it takes 6 s alone. */
export const startLocalService = async (
  dataDir: string,
  options: StartOptions = {},
): Promise<RunningService> => {
  const args = startArguments(dataDir, options);
  const env = { ...process.env, ...options.environment };
  const child = spawn(process.execPath, args, {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const errors: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk.toString()));
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`The local run was not ready within 110 s. ${errors.join('')}`));
    }, 110_000);
    createInterface({ input: child.stdout }).on('line', (line) => {
      options.onLine?.(line);
      if (!line.startsWith('ready ')) return;
      clearTimeout(timer);
      resolve();
    });
    void exited.then((code) => {
      clearTimeout(timer);
      reject(new Error(`The local run ended with ${code}. ${errors.join('')}`));
    });
  });
  const service = await readLocalService(dataDir);
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return exited;
  };
  return { ...service, process: child, stop };
};

/** Stops a local run, if it was started, and removes its data. */
export const discard = async (service: RunningService | undefined): Promise<void> => {
  if (!service) return;
  await service.stop();
  await rm(service.dataDir, { recursive: true, force: true });
};

/** Starts a local run that is expected to fail, and returns what it printed. */
export const failToStart = (dataDir: string, options: StartOptions = {}): Promise<Said> =>
  run(startArguments(dataDir, options));

/** Reads `local.json` of a running service. */
export const readLocalService = async (dataDir: string): Promise<LocalService> => ({
  ...JSON.parse(await readFile(join(dataDir, 'local.json'), 'utf8')),
  dataDir,
});

/** Runs an operators' command on a local run and returns its JSON. Rejects when the command fails. */
export const ops = async <T>(service: Pick<LocalService, 'dataDir'>, ...args: string[]): Promise<T> => {
  const { stdout, code, stderr } = await runOps(service, ...args);
  if (code !== 0) throw new Error(`ops ${args.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as T;
};

/** Runs an operators' command with `--json` and returns what it printed. */
export const runOps = ({ dataDir }: Pick<LocalService, 'dataDir'>, ...args: string[]): Promise<Said> =>
  callFixtures('/ops', { dataDir, args });

/** Calls the fixture server that global set-up started. Rejects with the error it reports. */
export const callFixtures = async <T>(path: '/ops' | '/runs', body: object): Promise<T> => {
  const url = process.env[FIXTURES_URL];
  if (!url) throw new Error('Contract tests run under their own jest project, which starts their server.');
  const response = await fetch(url + path, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as T;
};

/** What a command or process printed, and its exit code. */
export interface Said {
  stdout: string;
  stderr: string;
  code: number;
}

const run = (args: string[]): Promise<Said> =>
  new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: root, timeout: 60_000 }, (error, stdout, stderr) => {
      resolve({ stdout, stderr, code: typeof error?.code === 'number' ? error.code : error ? 1 : 0 });
    });
  });
