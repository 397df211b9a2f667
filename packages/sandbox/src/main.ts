/** Runs the sandbox until Ctrl-C or SIGTERM: `npm start --workspace @generation-service/sandbox -- [--port N]`. */
import { parseArgs } from 'node:util';
import { startSandbox } from './server.ts';

const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } });
const port = Number(values.port);
if (!Number.isInteger(port) || port < 0 || port > 65_535) {
  console.error(`--port takes a number from 0 to 65535, not ${values.port}`);
  process.exit(2);
}

const sandbox = await startSandbox({ port });
console.log(`sandbox providers at ${sandbox.url} (API key: sandbox-key)`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void sandbox.close());
