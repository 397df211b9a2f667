import { readFile, writeFile } from 'node:fs/promises';

/** Set by `npm run bench:… -- --quick`: a small run that shows that the benchmark works and writes nothing. */
export const isQuick = process.argv.includes('--quick');

const document = new URL('../docs/benchmarks.md', import.meta.url);

/**
 * Writes the figures of `bench/<name>/` to its `figures.json`, and their Markdown between `<!-- <name> -->` and
 * `<!-- /<name> -->` in `docs/benchmarks.md`. Does nothing in a quick run. Throws when the document lacks these markers.
 */
export const publish = async (name: string, figures: unknown, markdown: string): Promise<void> => {
  if (isQuick) return;
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const text = await readFile(document, 'utf8');
  const [before, after] = [text.indexOf(start), text.indexOf(end)];
  if (before < 0 || after < before) throw new Error(`docs/benchmarks.md has no markers ${start} and ${end}.`);
  await writeFile(new URL(`${name}/figures.json`, import.meta.url), `${JSON.stringify(figures, null, 2)}\n`);
  await writeFile(document, `${text.slice(0, before)}${start}\n\n${markdown.trim()}\n\n${text.slice(after)}`);
};

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
