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

/** After this long a command says what it does. */
const PATIENCE_MS = 1_000;

/** Shows on `progress` what a command does, once it takes over a second. `stop` ends it. */
export const reportLate = (
  progress: Progress | undefined,
  name: string,
): { say(text: string): void; stop(): void } => {
  let text = name;
  let isLate = false;
  const timer = progress
    ? setTimeout(() => {
        isLate = true;
        progress.update(text);
      }, PATIENCE_MS)
    : undefined;
  return {
    say(next) {
      text = `${name}: ${next}`;
      if (isLate) progress?.update(text);
    },
    stop() {
      clearTimeout(timer);
      if (isLate) progress?.stop();
    },
  };
};
