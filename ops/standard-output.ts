/**
 * Reserves standard output for results, so that `--json` prints one value and nothing else. Other output goes to
 * standard error; the service's logger and metrics are silenced. Returns the only function that still writes to
 * standard output.
 *
 * A failed write ends the process: without a message and with the command's own status when the reader has gone, as
 * `head` does, otherwise with a line on standard error and status 1.
 */
export const reserveStandardOutput = (): ((text: string) => void) => {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  process.stdout.on('error', endAfter);
  process.env.POWERTOOLS_LOG_LEVEL = 'SILENT';
  process.env.POWERTOOLS_METRICS_DISABLED = 'true';
  return (text) => {
    write(text);
  };
};

const endAfter = ({ code, message }: NodeJS.ErrnoException): void => {
  if (code === 'EPIPE') {
    // The command, which may have printed its result just now, sets its status first.
    setImmediate(() => process.exit());
    return;
  }
  // Once: a command that goes on printing would say it again.
  process.stdout.removeListener('error', endAfter).on('error', () => undefined);
  process.stderr.write(
    `The command was carried out, but its output could not be written: ${code ?? message}.\n`,
  );
  setImmediate(() => process.exit(1));
};
