import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { insertAccount } from '../../core/accounts/accounts.ts';
import { insertApiKey, SCOPES } from '../../core/accounts/api-keys.ts';
import { changeBalance } from '../../core/ledger/change-balance.ts';
import { connect } from '../../ops/target.ts';
import { npmStart } from '../../test/contract/support/npm-start.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const START_LIMIT_MS = 120_000;
const LIMITS = { requestsPerSecond: 10_000, burst: 10_000 };
const BALANCE_THOUSANDTHS = 1_000_000_000;

/** A local run in its own process, started like `npm start`. */
export interface Service {
  baseUrl: string;
  awsEndpointUrl: string;
  operatorAccessKeyId: string;
  /** Creates an account that may call as often as it likes, and returns its key. */
  newCaller(name: string): Promise<string>;
  /** Unfinished executions of `generation`. */
  openExecutions(): Promise<number>;
  /** Megabytes that its processes hold in memory. */
  megabytes(): number;
  close(): Promise<void>;
}

/** Starts a local run with an empty data directory. */
export const startService = async (): Promise<Service> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'generation-service-bench-'));
  const args = [...npmStart(), '--port', '0', '--data-dir', dataDir, '--plain-images'];
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const close = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    await whenReady(child);
    const run = JSON.parse(await readFile(join(dataDir, 'local.json'), 'utf8'));
    await connect({ dataDir });
    return {
      baseUrl: run.baseUrl,
      awsEndpointUrl: run.awsEndpointUrl,
      operatorAccessKeyId: run.operatorAccessKeyId,
      newCaller: async (name) => {
        const now = new Date();
        const { accountId } = await insertAccount(name, now);
        const topup = { amountThousandths: BALANCE_THOUSANDTHS, reason: 'topup', reference: '' } as const;
        await changeBalance(accountId, topup, now);
        return (await insertApiKey(accountId, { scopes: SCOPES, label: name, limits: LIMITS }, now)).text;
      },
      openExecutions: () =>
        countOpen(run.awsEndpointUrl, run.operatorAccessKeyId, run.stateMachines.generation),
      megabytes: () => megabytesOf(child.pid as number),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};

/** A server in its own process that answers each call at once: what the machine and the callers do by themselves. */
export const startBareServer = async (): Promise<{ url: string; close(): void }> => {
  const script = fileURLToPath(new URL('bare-server.ts', import.meta.url));
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { url, close: () => void child.stdin.end() };
};

const whenReady = (child: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('The local run was not ready in time.')), START_LIMIT_MS);
    child.once('exit', () => reject(new Error('The local run ended.')));
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      if (!line.startsWith('ready ')) return;
      clearTimeout(timer);
      resolve();
    });
  });

const countOpen = async (url: string, accessKeyId: string, stateMachineArn: string): Promise<number> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': 'AWSStepFunctions.ListExecutions',
      authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20260101/us-east-1/states/aws4_request`,
    },
    body: JSON.stringify({ stateMachineArn, statusFilter: 'RUNNING', maxResults: 1_000 }),
  });
  const { executions } = (await response.json()) as { executions: unknown[] };
  return executions.length;
};

/** Resident memory of a process and everything below it, from `ps`. */
const megabytesOf = (pid: number): number => {
  const processes = execFileSync('ps', ['-eo', 'pid=,ppid=,rss='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number) as [pid: number, parent: number, kilobytes: number]);
  const family = new Set([pid]);
  // Parents come before their children often, but not always.
  for (let before = 0; before < family.size; ) {
    before = family.size;
    for (const [id, parent] of processes) if (family.has(parent)) family.add(id);
  }
  return processes.reduce((sum, [id, , kilobytes]) => (family.has(id) ? sum + kilobytes / 1_024 : sum), 0);
};
