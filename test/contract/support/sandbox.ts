import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const program = createRequire(import.meta.url).resolve('@generation-service/sandbox/main');

/** Sandbox providers in a process of their own: unlike those of a local run they outlive it, as real ones do. */
export interface SandboxProcess {
  sandboxUrl: string;
  /** The context that sends a local run's calls to them. */
  context: Record<string, string>;
  /** Ends them and waits until they are gone. */
  stop(): Promise<void>;
}

/** Starts sandbox providers on a free port. Rejects when they end before they serve. */
export const startSandboxProcess = async (): Promise<SandboxProcess> => {
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    exited.then(([code]) => Promise.reject(new Error(`The sandbox ended with ${code}.`))),
  ]);
  const [sandboxUrl] = /http:\S+/.exec(line) ?? [];
  if (sandboxUrl === undefined) throw new Error(`The sandbox does not say where it is: ${line}`);
  return {
    sandboxUrl,
    context: { modelArkBaseUrl: `${sandboxUrl}/api/v3`, modelStudioBaseUrl: sandboxUrl },
    stop: async () => {
      child.kill();
      await exited;
    },
  };
};
