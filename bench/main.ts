/**
 * Measures costs, waits, bundles, handlers and the local run beside budgets: `npm run bench`, or only parts of it:
 * `npm run bench -- costs waiting`. Writes the figures to `bench/results.json`, and the figures that callers and
 * operators notice to `docs/performance.md`. `--quick` measures less and writes nothing. Exits with 1 when a figure
 * misses its budget.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { Argument } from 'commander';
import { plainCommand } from '../ops/plain-command.ts';
import { measureBundles } from './bundles/measure.ts';
import { measureHandlers } from './handlers/measure.ts';
import { measureLocalRun } from './local-run/measure.ts';
import { isQuick, logProgress } from './publish.ts';
import { missedIn, reportOf } from './report.ts';
import type { Part } from './results.ts';
import { measureApart } from './simulated/apart.ts';

const DOCUMENT = new URL('../docs/performance.md', import.meta.url);
const RESULTS = new URL('results.json', import.meta.url);

/** Every part by its name, in the order of the document. */
const MEASURES: Record<string, () => Promise<Part>> = {
  costs: () => measureApart('costs'),
  waiting: () => measureApart('waiting'),
  bundles: measureBundles,
  handlers: measureHandlers,
  'local-run': measureLocalRun,
};

/** The parts that callers and operators feel. */
const SHOWN = ['costs', 'waiting'];

const [START, END] = ['<!-- figures -->', '<!-- /figures -->'];

/** Replaces the text between the markers. Throws without them. */
const between = (text: string, content: string): string => {
  const [before, after] = [text.indexOf(START), text.indexOf(END)];
  if (before < 0 || after < before)
    throw new Error(`docs/performance.md has no markers ${START} and ${END}.`);
  return `${text.slice(0, before)}${START}\n\n${content}\n\n${text.slice(after)}`;
};

const write = async (measured: Record<string, Part>): Promise<void> => {
  const stored = JSON.parse(await readFile(RESULTS, 'utf8')) as Record<string, Part>;
  const parts = Object.fromEntries(
    Object.keys(MEASURES).flatMap((name) => {
      const part = measured[name] ?? stored[name];
      return part ? [[name, part] as const] : [];
    }),
  );
  const missed = Object.values(parts).flatMap(({ results }) => missedIn(results));
  const figures = [
    ...SHOWN.flatMap((name) => (parts[name] ? [reportOf(parts[name])] : [])),
    missed.length === 0 ? 'No budget is missed.' : `Missed budgets:\n\n- ${missed.join('\n- ')}`,
  ].join('\n\n');
  await writeFile(RESULTS, `${JSON.stringify(parts, null, 2)}\n`);
  const text = await readFile(DOCUMENT, 'utf8');
  await writeFile(DOCUMENT, between(text, figures));
};

const main = async (): Promise<void> => {
  const command = plainCommand('bench', 'Measures the parts beside their budgets; without a name, all parts.')
    .addArgument(new Argument('[parts...]', 'what to measure').choices(Object.keys(MEASURES)))
    .option('--quick', 'measure less, and write nothing')
    .parse();
  const asked = command.args;
  const measured: Record<string, Part> = {};
  for (const [name, measure] of Object.entries(MEASURES)) {
    if (asked.length > 0 && !asked.includes(name)) continue;
    measured[name] = await measure();
    logProgress(`${reportOf(measured[name])}\n`);
  }
  if (!isQuick) await write(measured);
  const missed = Object.values(measured).flatMap(({ results }) => missedIn(results));
  for (const text of missed) console.log(`Over budget: ${text}`);
  process.exitCode = missed.length > 0 ? 1 : 0;
};

await main();
