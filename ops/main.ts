import { keepCompiledCode } from './compiled-code.ts';
import { createProgress } from './progress.ts';
import { reserveStandardOutput } from './standard-output.ts';
import { onStopSignals } from './stop-signals.ts';

keepCompiledCode();
const out = reserveStandardOutput();
// Imported after standard output and the log settings are set: modules read them when they load.
const { run } = await import('./program.ts');
const { stdout, stderr } = process;
process.exitCode = await run(process.argv.slice(2), {
  out,
  err: (text) => stderr.write(text),
  // Read each time: a terminal can be resized. Some say that they have no columns.
  get columns() {
    return stdout.isTTY && stdout.columns > 0 ? stdout.columns : undefined;
  },
  get rows() {
    return stdout.isTTY && stdout.rows > 0 ? stdout.rows : undefined;
  },
  ...(stderr.isTTY && { progress: createProgress(() => undefined) }),
  catchInterrupt() {
    const interrupt = new AbortController();
    onStopSignals(
      () => interrupt.abort(),
      () => process.exit(130),
    );
    return interrupt.signal;
  },
});
