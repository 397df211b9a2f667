/** Set by `-- --quick`: a small run that shows that the benchmark works and writes nothing. */
export const isQuick = process.argv.includes('--quick');

/** A Markdown table. Columns are right-aligned unless named in `textColumns`. */
export const markdownTable = (
  columns: readonly string[],
  rows: readonly (readonly (string | number)[])[],
  textColumns: readonly string[] = [],
): string => {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  const alignments = columns.map((column) => (textColumns.includes(column) ? '---' : '---:'));
  return [line(columns), line(alignments), ...rows.map(line)].join('\n');
};

/** Logs a line with the seconds since this process started. */
export const logProgress = (message: string): void =>
  console.log(`${process.uptime().toFixed(0).padStart(4)} s  ${message}`);
