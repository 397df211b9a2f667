import { Worker } from 'node:worker_threads';
import type { Said } from '../../ops/verb.ts';

/** Runs operators' commands on one local run. */
export interface Commands {
  /** Rejects when the thread ends before the command does. */
  run(args: readonly string[]): Promise<Said>;
  close(): Promise<void>;
}

/**
 * Runs operators' commands with `--json` in a thread of their own, since they change the environment. It starts with the first command: most
 * runs need none.
 */
export const createCommands = (dataDir: string): Commands => {
  const pending = new Map<number, PromiseWithResolvers<Said>>();
  let [worker, count]: [Worker | undefined, number] = [undefined, 0];

  const start = (): Worker => {
    const thread = new Worker(new URL('../../ops/command-thread.ts', import.meta.url), {
      env: { ...process.env, POWERTOOLS_LOG_LEVEL: 'SILENT', POWERTOOLS_METRICS_DISABLED: 'true' },
    });
    // It ends no process, and keeps none alive.
    thread.unref();
    thread.on('message', ({ id, said }: { id: number; said: Said }) => {
      pending.get(id)?.resolve(said);
      pending.delete(id);
    });
    thread.on('error', (error) => fail(error));
    thread.on('exit', () => {
      worker = undefined;
      fail(new Error('The thread of the operators’ commands ended.'));
    });
    return thread;
  };
  const fail = (error: unknown): void => {
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
  };

  return {
    run: (args) => {
      worker ??= start();
      const id = count++;
      const outcome = Promise.withResolvers<Said>();
      pending.set(id, outcome);
      worker.postMessage({ id, args: [...args, '--json', `--data-dir=${dataDir}`] });
      return outcome.promise;
    },
    close: async () => {
      await worker?.terminate();
    },
  };
};
