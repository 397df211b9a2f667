import { parentPort } from 'node:worker_threads';
import { runToText } from './program.ts';

// Runs operators' commands in this thread, which has its own environment and modules. All must name the same service.
parentPort?.on('message', async ({ id, args }: { id: number; args: string[] }) => {
  parentPort?.postMessage({ id, said: await runToText(args) });
});
