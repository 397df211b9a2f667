import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { insertAccount } from '../../core/accounts/accounts.ts';
import { insertApiKey, SCOPES } from '../../core/accounts/api-keys.ts';
import { changeBalance } from '../../core/ledger/ledger.ts';
import { connect } from '../../ops/target.ts';
import { npmStart } from '../../test/contract/support/npm-start.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const START_LIMIT_MS = 120_000;
const LIMITS = { requestsPerSecond: 10_000, burst: 10_000 };
const BALANCE_THOUSANDTHS = 1_000_000_000;

/** A local run in a process of its own, as `npm start` makes it, and what the bench knows of it. */
export interface Service {
  baseUrl: string;
  /** The run's accounts that `newCaller` made. */
  accountIds: string[];
  awsEndpointUrl: string;
  operatorAccessKeyId: string;
  /** Creates an account that may call as often as it likes, and returns its key. */
  newCaller(name: string): Promise<string>;
  /** Unfinished executions of `generation`. */
  openExecutions(): Promise<number>;
  /** When callbacks of providers that say `succeeded` were sent on, by their paths and `performance.now()`. */
  callbacks: Map<string, number>;
  /** Megabytes that its processes hold in memory. */
  megabytes(): number;
  close(): Promise<void>;
}

/** Starts a local run with an empty data directory. Callbacks reach it through this process, which notes when. */
export const startService = async (): Promise<Service> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'generation-service-bench-'));
  const port = await freePort();
  const callbacks = new Map<string, number>();
  const accountIds: string[] = [];
  const door = await startCallbackDoor(`http://127.0.0.1:${port}`, callbacks);
  const context = { publicBaseUrl: door.url };
  const { environment, args } = npmStart();
  const child = spawn(
    process.execPath,
    [
      ...args,
      ...['--port', String(port), '--data-dir', dataDir, '--plain-images'],
      ...Object.entries(context).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
    ],
    { cwd: root, env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const close = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
    door.server.close();
    door.server.closeAllConnections();
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
      accountIds,
      callbacks,
      newCaller: async (name) => {
        const now = new Date();
        const { accountId } = await insertAccount(name, now);
        accountIds.push(accountId);
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

/** What ModelArk posts, as far as it is read here. */
interface VideoTask {
  status: string;
  content?: { video_url?: string };
}

const freePort = async (): Promise<number> => {
  const server = createSocketServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
};

/**
 * Forwards what providers call back, and notes when a task of a request succeeded, by the path of its callback. The sandbox draws a
 * video when it is first fetched; that is done before, so that it is not timed.
 */
const startCallbackDoor = async (
  target: string,
  callbacks: Map<string, number>,
): Promise<{ url: string; server: Server }> => {
  const forward = async (path: string, headers: IncomingHttpHeaders, body: Buffer): Promise<Response> => {
    const { status, content } = JSON.parse(body.toString()) as VideoTask;
    if (content?.video_url) await fetch(content.video_url).then((file) => file.arrayBuffer());
    if (status === 'succeeded') callbacks.set(path, performance.now());
    const contentType = String(headers['content-type']);
    return fetch(target + path, { method: 'POST', headers: { 'content-type': contentType }, body });
  };
  const server = createServer(async (request, response) => {
    try {
      const answer = await forward(request.url ?? '', request.headers, await buffer(request));
      response.writeHead(answer.status).end(await answer.text());
    } catch {
      // The run is stopping; its provider takes this for no answer.
      response.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
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
