import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const program = createRequire(import.meta.url).resolve('@generation-service/sandbox/main');

/** Sandbox providers in their own process: like real ones, they outlive a local run. */
export interface SandboxProcess {
  sandboxUrl: string;
  /** CDK context that points a local run at them. */
  context: Record<string, string>;
  /** Stops them and waits for their exit. */
  stop(): Promise<void>;
}

/** Starts sandbox providers on a free port. Rejects when they exit before they are ready. */
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
