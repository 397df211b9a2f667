/** Creates the first account of the local run in the data directory named by the argument, and prints it as JSON. */
import { reserveStandardOutput } from '../../ops/standard-output.ts';
import type { FirstAccount } from './data-directory.ts';

/** The first account's balance. */
const FIRST_BALANCE_XTOKENS = 1_000;

const out = reserveStandardOutput();
// Imported after standard output and the log settings are set: modules read them when they load.
const { run } = await import('../../ops/program.ts');

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
const { key } = await ops('keys', 'create', '--account', accountId, '--label', 'demo');
await ops(
  ...['balance', 'topup', '--account', accountId],
  ...['--amount', String(FIRST_BALANCE_XTOKENS), '--note', 'first start'],
);
out(JSON.stringify({ accountId, apiKey: key, webhookSecret } satisfies FirstAccount));
