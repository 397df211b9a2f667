import { parentPort } from 'node:worker_threads';
import { run } from './program.ts';

// Runs operators' commands in this thread, which has its own environment and modules. All must name the same service.
parentPort?.on('message', async ({ id, args }: { id: number; args: string[] }) => {
  const said = { stdout: '', stderr: '' };
  const status = await run(args, {
    out: (text) => {
      said.stdout += text;
    },
    err: (text) => {
      said.stderr += text;
    },
  });
  parentPort?.postMessage({ id, said: { ...said, status } });
});
