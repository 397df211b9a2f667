/** Runs the sandbox until Ctrl-C or SIGTERM: `npm start --workspace @generation-service/sandbox -- [--port N] [--max-running N] [--requests-per-second N]`. */
import { parseArgs } from 'node:util';
import { startSandbox } from './server.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    'max-running': { type: 'string' },
    'requests-per-second': { type: 'string' },
  },
});

const limitOf = (name: 'max-running' | 'requests-per-second'): number | undefined => {
  const given = values[name];
  if (given === undefined || /^[1-9]\d*$/.test(given)) return given === undefined ? undefined : Number(given);
  console.error(`--${name} takes a whole number from 1, not ${given}`);
  process.exit(2);
};

const port = Number(values.port);
if (!Number.isInteger(port) || port < 0 || port > 65_535) {
  console.error(`--port takes a number from 0 to 65535, not ${values.port}`);
  process.exit(2);
}

const [maxRunning, createsPerSecond] = [limitOf('max-running'), limitOf('requests-per-second')];
const sandbox = await startSandbox({
  port,
  maxRunning,
  capacity: { ...(createsPerSecond !== undefined && { createsPerSecond }) },
});
console.log(`sandbox providers at ${sandbox.url} (API key: sandbox-key)`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void sandbox.close());
