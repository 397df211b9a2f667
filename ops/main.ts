import { reserveStandardOutput } from './standard-output.ts';

const out = reserveStandardOutput();
// Imported after standard output and the log settings are set: modules read them when they load.
const { run } = await import('./program.ts');
process.exitCode = await run(process.argv.slice(2), {
  out,
  err: (text) => process.stderr.write(text),
  columns: process.stdout.isTTY ? process.stdout.columns : undefined,
});
