import { reserveStandardOutput } from '../standard-output.ts';

const out = reserveStandardOutput();
const stopping = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => {
    if (stopping.signal.aborted) {
      process.stderr.write('Stopped before the stack was destroyed.\n');
      process.exit(1);
    }
    process.stderr.write('Stopping: the stack is destroyed first.\n');
    stopping.abort();
  });
}
// Imported after standard output and the log settings are set: modules read them when they load.
const { main } = await import('./program.ts');
process.exitCode = await main(process.argv.slice(2), {
  out,
  err: (text) => process.stderr.write(text),
  signal: stopping.signal,
  columns: (process.stdout.isTTY && process.stdout.columns) || undefined,
});
// Connections that the SDK keeps would hold the process open.
process.exit();
