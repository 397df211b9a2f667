import { parseArgs } from 'node:util';

const HELP = `Usage: sandbox [options]

Runs stand-ins for the providers until Ctrl-C or SIGTERM.

Options:
  --port <port>                   port on 127.0.0.1, 0 for any (default: 0)
  --max-running <number>          calls and tasks of a model at once
  --requests-per-second <number>  calls of a model a second
  --help                          prints this`;

/** Ends the process, and says why in one line. */
const refuse = (reason: string): never => {
  console.error(reason);
  process.exit(2);
};

const readOptions = () => {
  try {
    return parseArgs({
      options: {
        port: { type: 'string', default: '0' },
        'max-running': { type: 'string' },
        'requests-per-second': { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return refuse(`error: ${error.message.split('. ')[0]}`);
  }
};

const values = readOptions();
if (values.help) {
  console.log(HELP);
  process.exit(0);
}

const limitOf = (name: 'max-running' | 'requests-per-second'): number | undefined => {
  const given = values[name];
  if (given === undefined || /^[1-9]\d*$/.test(given)) return given === undefined ? undefined : Number(given);
  return refuse(`--${name} takes a whole number from 1, not ${given}`);
};

const port = Number(values.port);
if (!Number.isInteger(port) || port < 0 || port > 65_535) {
  refuse(`--port takes a number from 0 to 65535, not ${values.port}`);
}

const [maxRunning, createsPerSecond] = [limitOf('max-running'), limitOf('requests-per-second')];
// Loaded only now: a call that is refused, or asks for help, is answered at once.
const { startSandbox } = await import('./server.ts');
const sandbox = await startSandbox({
  port,
  maxRunning,
  capacity: { ...(createsPerSecond !== undefined && { createsPerSecond }) },
});
console.log(`sandbox providers at ${sandbox.url} (API key: sandbox-key)`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void sandbox.close());
