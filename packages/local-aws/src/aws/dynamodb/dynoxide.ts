import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { messageOf } from '../errors.ts';
import { obtainDynoxide } from './engine-package.ts';

/** A running DynamoDB engine. */
export interface DynamoDbEngine {
  /**
   * `http://127.a.b.c:port`. The engine answers every host, origin and signature, so address (on Linux) and port are random and must
   * stay secret. Other callers use the AWS endpoint, which checks them.
   */
  url: string;
  /** Stops the engine; resolves when it has exited, within about a second. */
  stop(): Promise<void>;
}

const START_ATTEMPTS = 3;
const READY_TIMEOUT_MILLIS = 10_000;
const STOP_GRACE_MILLIS = 1_000;

/**
 * Runs its arguments as a child and kills it when standard input closes. The kernel closes it however this process dies, SIGKILL included,
 * so no engine is left holding the file. Background jobs of `sh` read from /dev/null, hence descriptor 3.
 */
const GUARD =
  'exec 3<&0; "$@" 3<&- & child=$!; (read -r _ <&3; kill -9 "$child" 2>/dev/null) & wait "$child"';

/** An address of loopback that no web page can guess, on Linux, which answers on all of 127.0.0.0/8. Others have one. */
const loopback = (): string =>
  process.platform === 'linux'
    ? ['127', randomInt(1, 255), randomInt(256), randomInt(1, 255)].join('.')
    : '127.0.0.1';

const findFreePort = async (host: string): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
};

/** Whether anything answers HTTP at `url`. */
const answers = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = request(url, { method: 'GET', timeout: 1_000 }, (response) => {
      response.resume();
      resolve(true);
    });
    probe.on('error', () => resolve(false));
    probe.on('timeout', () => probe.destroy());
    probe.end();
  });

const hasExited = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

const stopChild = async (child: ChildProcess): Promise<void> => {
  if (hasExited(child)) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.stdin?.end();
  await Promise.race([exited, sleep(STOP_GRACE_MILLIS, undefined, { ref: false })]);
  if (!hasExited(child)) child.kill('SIGKILL');
};

const tryStart = async (binary: string, file: string): Promise<DynamoDbEngine> => {
  const host = loopback();
  const port = await findFreePort(host);
  const url = `http://${host}:${port}`;
  // Its own process group: Ctrl-C must not stop the engine before the functions that still write to it.
  const serve = ['serve', '--host', host, '-p', String(port), '--db-path', file];
  const child = spawn('sh', ['-c', GUARD, 'sh', binary, ...serve], {
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true,
  });
  let complaint = '';
  let [isReady, stopping] = [false, false];
  let spawnError: Error | undefined;
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString('utf8')).slice(-2_000);
  });
  child.stdin.on('error', () => child.stdin.destroy());
  child.on('error', (error) => {
    spawnError = error;
  });
  child.on('exit', (code) => {
    child.stdin.destroy();
    // One that never answered is started again, or reported by an error.
    if (isReady && !stopping) console.error(`[aws] the DynamoDB engine ended (${code}): ${complaint.trim()}`);
  });
  const stop = () => {
    stopping = true;
    return stopChild(child);
  };

  const giveUpAt = Date.now() + READY_TIMEOUT_MILLIS;
  while (!(await answers(url))) {
    if (spawnError || hasExited(child) || Date.now() > giveUpAt) {
      await stop();
      throw new Error(
        `The DynamoDB engine did not start: ${spawnError ? messageOf(spawnError) : complaint.trim() || 'no answer'}`,
      );
    }
    await sleep(10);
  }
  isReady = true;
  return { url, stop };
};

/**
 * Starts dynoxide on `file` (created when absent; `:memory:` keeps nothing) and resolves once it answers. Another process may take the
 * free port before the engine binds it, so a failed start is retried. Throws as `obtainDynoxide`.
 */
export const startDynoxide = async (file: string): Promise<DynamoDbEngine> => {
  const binary = await obtainDynoxide();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await tryStart(binary, file);
    } catch (error) {
      if (attempt === START_ATTEMPTS) throw error;
    }
  }
};
