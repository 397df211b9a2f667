/**
 * Reserves standard output for results, so that `--json` prints one value and nothing else. Other output goes to standard error; the
 * service's logger and metrics are silenced. Returns the only function that still writes to standard output.
 */
export const reserveStandardOutput = (): ((text: string) => void) => {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  process.env.POWERTOOLS_LOG_LEVEL = 'SILENT';
  process.env.POWERTOOLS_METRICS_DISABLED = 'true';
  return (text) => {
    write(text);
  };
};
