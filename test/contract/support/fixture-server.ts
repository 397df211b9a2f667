import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import {
  discard,
  newDataDir,
  type RunningService,
  readLocalService,
  type Said,
  startLocalService,
} from './local-service.ts';
import { refusedCalls } from './permissions.ts';
import { SHARED_RUNS, type SharedRun } from './shared-runs.ts';

/** Serves every test process: starts the shared local runs, and runs operators' commands without a process for each. */
export interface FixtureServer {
  url: string;
  /**
   * Stops the shared runs and removes their data. Rejects when a call that the service made for any of the tests was
   * refused to its role: the deployed service would have failed there too.
   */
  close(): Promise<void>;
}

/** Starts a fixture server on a free port. */
export const startFixtureServer = async (): Promise<FixtureServer> => {
  const runs = new Map<SharedRun, Promise<RunningService>>();
  const threads = new Map<string, OpsThread>();

  const startRun = async (name: SharedRun): Promise<{ dataDir: string }> => {
    let run = runs.get(name);
    if (!run) {
      run = newDataDir().then((dataDir) => startLocalService(dataDir, { context: SHARED_RUNS[name] }));
      runs.set(name, run);
      // The next file starts it again.
      run.catch(() => runs.delete(name));
    }
    const { dataDir } = await run;
    return { dataDir };
  };

  const runOps = async (dataDir: string, args: string[]): Promise<Said> => {
    const { pid } = await readLocalService(dataDir);
    let thread = threads.get(dataDir);
    // After a restart the AWS endpoint has moved, and the old thread's clients do not know.
    if (thread?.pid !== pid) {
      await thread?.stop();
      thread = startOpsThread(pid);
      threads.set(dataDir, thread);
    }
    return thread.run([...args, '--data-dir', dataDir]);
  };

  const answer = async (request: IncomingMessage): Promise<unknown> => {
    const body = (await json(request)) as { name: SharedRun; dataDir: string; args: string[] };
    return request.url === '/runs' ? startRun(body.name) : runOps(body.dataDir, body.args);
  };
  const server = createServer((request, response) => {
    // Idle connections would run out while this process is busy, and be reset when they are used.
    response.setHeader('Connection', 'close');
    answer(request).then(
      (value) => response.end(JSON.stringify(value)),
      (error) => response.writeHead(500).end(String(error?.stack ?? error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  const stopRun = async (starting: Promise<RunningService>): Promise<string[]> => {
    const run = await starting.catch(() => undefined);
    const refused = run ? await refusedCalls(run.dataDir) : [];
    await discard(run);
    return refused;
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await Promise.all([...threads.values()].map((thread) => thread.stop()));
      const refused = (await Promise.all([...runs.values()].map(stopRun))).flat();
      if (refused.length > 0) throw new Error(`Calls were refused to their role:\n${refused.join('\n')}`);
    },
  };
};

/** A thread that runs operators' commands on one local run. */
interface OpsThread {
  /** The process of the local run. */
  pid: number;
  run(args: string[]): Promise<Said>;
  stop(): Promise<unknown>;
}

const startOpsThread = (pid: number): OpsThread => {
  const worker = new Worker(new URL('./ops-thread.ts', import.meta.url), {
    // As the command line sets them.
    env: { ...process.env, POWERTOOLS_LOG_LEVEL: 'SILENT', POWERTOOLS_METRICS_DISABLED: 'true' },
  });
  const pending = new Map<number, PromiseWithResolvers<Said>>();
  let commands = 0;
  worker.on('message', ({ id, said }: { id: number; said: Said }) => {
    pending.get(id)?.resolve(said);
    pending.delete(id);
  });
  worker.on('error', (error) => {
    for (const { reject } of pending.values()) reject(error);
  });
  return {
    pid,
    run(args) {
      const id = commands++;
      const outcome = Promise.withResolvers<Said>();
      pending.set(id, outcome);
      worker.postMessage({ id, args });
      return outcome.promise;
    },
    stop: () => worker.terminate(),
  };
};
