/**
 * Creates the account `demo` in the local run whose data directory is the argument, with 1,000 xTokens and a key that has a default end-user,
 * and prints account and key as JSON.
 * Several commands in one process: a start of the local run waits for it.
 */
import { reserveStandardOutput } from './standard-output.ts';

/** The first account's balance. */
const FIRST_BALANCE_XTOKENS = 1_000;

const out = reserveStandardOutput();
// Imported after standard output and the log settings are set: modules read them when they load.
const { run } = await import('./program.ts');

const [dataDirectory = ''] = process.argv.slice(2);
const ops = async (...args: string[]) => {
  let printed = '';
  const status = await run([...args, '--json', '--data-dir', dataDirectory], {
    out: (text) => {
      printed += text;
    },
    err: (text) => process.stderr.write(text),
  });
  if (status !== 0) process.exit(status);
  return JSON.parse(printed);
};

const { accountId, webhookSecret } = await ops('accounts', 'create', '--name', 'demo');
const ofKey = ['--label', 'demo', '--end-user', 'demo@example.com'];
const { key } = await ops('keys', 'create', '--account', accountId, ...ofKey);
await ops(
  'balance',
  'topup',
  '--account',
  accountId,
  '--amount',
  String(FIRST_BALANCE_XTOKENS),
  '--note',
  'first start',
);
out(JSON.stringify({ accountId, apiKey: key, webhookSecret }));
