import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { type Commands, createCommands } from '../../../local/run/commands.ts';
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
  /** The commands of each local run, by its directory, and the process they speak to. */
  const commands = new Map<string, Commands & { pid: number }>();

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
    let known = commands.get(dataDir);
    // After a restart the AWS endpoint has moved, and the old thread's clients do not know.
    if (known?.pid !== pid) {
      await known?.close();
      known = { ...createCommands(dataDir), pid };
      commands.set(dataDir, known);
    }
    const { stdout, stderr, status: code } = await known.run(args);
    return { stdout, stderr, code };
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
      await Promise.all([...commands.values()].map((each) => each.close()));
      const refused = (await Promise.all([...runs.values()].map(stopRun))).flat();
      if (refused.length > 0) throw new Error(`Calls were refused to their role:\n${refused.join('\n')}`);
    },
  };
};
