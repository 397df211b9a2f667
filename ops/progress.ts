import ora from 'ora';

/** Says what goes on: a spinner on a terminal, else lines. */
export interface Progress {
  update(text: string): void;
  succeed(text: string): void;
  fail(text: string): void;
  stop(): void;
}

/** A progress on standard error; its lines go to `out` when that is no terminal. */
export const createProgress = (out: (line: string) => void): Progress => {
  // Without a known width the spinner would clear lines without end.
  const spinner = process.stderr.isTTY && process.stderr.columns > 0 ? ora() : undefined;
  let shown = '';
  return {
    update(text) {
      if (text === shown) return;
      shown = text;
      if (spinner) spinner.start(text);
      else out(text);
    },
    succeed(text) {
      if (spinner) spinner.succeed(text);
      else out(text);
    },
    fail(text) {
      if (spinner) spinner.fail(text);
      else out(text);
    },
    stop() {
      spinner?.stop();
    },
  };
};
