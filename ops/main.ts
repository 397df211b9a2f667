import { createProgress } from './progress.ts';
import { reserveStandardOutput } from './standard-output.ts';

const out = reserveStandardOutput();
// Imported after standard output and the log settings are set: modules read them when they load.
const { run } = await import('./program.ts');
const { isTTY, columns, rows } = process.stdout;
const err = (text: string): void => {
  process.stderr.write(text);
};
process.exitCode = await run(process.argv.slice(2), {
  out,
  err,
  ...(isTTY && { columns, rows }),
  ...(process.stderr.isTTY && { progress: createProgress(() => undefined) }),
  catchInterrupt() {
    const interrupt = new AbortController();
    process.once('SIGINT', () => interrupt.abort());
    return interrupt.signal;
  },
});
