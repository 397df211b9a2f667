import { reserveStandardOutput } from './standard-output.ts';
import { onStopSignals } from './stop-signals.ts';

/** The streams of a stoppable program: results go to `out`, messages to `err`, and `signal` asks the program to stop. */
export interface StoppableStreams {
  out(text: string): void;
  err(text: string): void;
  signal: AbortSignal;
  /** Width of the terminal behind `out`, when it is one. */
  columns?: number | undefined;
}

/** The module of such a program. `main` resolves to the exit status. */
interface StoppableProgram {
  main(args: readonly string[], streams: StoppableStreams): Promise<number>;
}

/**
 * Runs a program to its end, and ends the process. SIGINT or SIGTERM asks it to stop, and says `stopping`; a second one ends the process
 * at once, and says `stopped`.
 */
export const runStoppable = async (
  load: () => Promise<StoppableProgram>,
  { stopping, stopped }: { stopping: string; stopped: string },
): Promise<void> => {
  const out = reserveStandardOutput();
  const stop = new AbortController();
  onStopSignals(
    () => {
      process.stderr.write(`${stopping}\n`);
      stop.abort();
    },
    () => {
      process.stderr.write(`${stopped}\n`);
      process.exit(1);
    },
  );
  // Loaded after standard output and the log settings are set: modules read them when they load.
  const { main } = await load();
  process.exitCode = await main(process.argv.slice(2), {
    out,
    err: (text) => process.stderr.write(text),
    signal: stop.signal,
    columns: (process.stdout.isTTY && process.stdout.columns) || undefined,
  });
  // Connections that the SDK keeps would hold the process open.
  process.exit();
};
