/**
 * Keeps standard output for results, so that `--json` prints one value and nothing else: whatever other modules print goes to standard
 * error, and the logger and the metrics of the service are silent. Gives the only way left to write to standard output.
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
