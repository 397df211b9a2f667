import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** An endpoint in a process of its own, to be killed. */
export interface EndpointProcess {
  url: string;
  /** The signal that ended the process. */
  ended: Promise<NodeJS.Signals | null>;
  kill(): void;
}

/** Runs in the process: the endpoint, with a machine whose function never answers. */
const script = (dataDir: string): string => `
  import { aMachine, endpointOptions, functionArn, startEndpoint } from ${JSON.stringify(join(import.meta.dirname, 'support.ts'))};
  const secrets = [{ name: 'key', arn: 'arn:aws:secretsmanager:us-east-1:000000000000:secret:key-AbCdEf', initialValue: 'initial' }];
  const endpoint = await startEndpoint(endpointOptions({ dataDir: ${JSON.stringify(dataDir)}, secrets }));
  const definition = { StartAt: 'Work', States: { Work: { Type: 'Task', Resource: 'arn:aws:states:::lambda:invoke', Parameters: { FunctionName: functionArn('work') }, End: true } } };
  await endpoint.startStateMachines([aMachine('work', definition)], () => new Promise(() => undefined));
  console.log(endpoint.url);
`;

const urlOf = async (child: ChildProcess): Promise<string> => {
  if (!child.stdout) throw new Error('the process has no output');
  for await (const line of createInterface(child.stdout)) return line;
  throw new Error('the process ended before it was ready');
};

/** Starts one on a data directory; resolves when it accepts calls. */
export const startEndpointProcess = async (dataDir: string): Promise<EndpointProcess> => {
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script(dataDir)], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit').then(([, signal]) => signal as NodeJS.Signals | null);
  return { url: await urlOf(child), ended, kill: () => child.kill('SIGKILL') };
};
