/**
 * Measures costs, waits, bundles, handlers and the local run beside budgets and earlier figures: `npm run bench`, or only parts of it: `npm run bench -- costs
 * waiting`. Writes them to `bench/results.json` and `docs/performance.md`; with `--quick` it measures less and writes nothing. Exits with 1
 * when a figure misses its budget.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { measureBundles } from './bundles/measure.ts';
import { measureHandlers } from './handlers/measure.ts';
import { measureLocalRun } from './local-run/measure.ts';
import { isQuick, logProgress, markdownTable } from './publish.ts';
import type { Part, Result } from './results.ts';
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

const figure = (value: number | null): string => {
  if (value === null) return '';
  return value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 3 : 0 });
};

const hasBudget = ({ budget }: Result): boolean => budget !== null;

/** Figures with a budget; one that misses it is bold. */
const budgetsOf = (results: readonly Result[]): string =>
  markdownTable(
    ['measure', 'unit', 'before', 'budget', 'now'],
    results.map(({ name, unit, baseline, budget, value, ok }) => [
      ...[name, unit, figure(baseline), figure(budget)],
      ok ? figure(value) : `**${figure(value)}**`,
    ]),
    ['measure', 'unit'],
  );

/** The other figures of a part. */
const reportOf = ({ title, note, results }: Part): string => {
  const others = results.filter((result) => !hasBudget(result));
  const rows = others.map(({ name, unit, baseline, value }) => [
    ...[name, unit, figure(baseline), figure(value)],
  ]);
  return `### ${title}\n\n${note}\n\n${markdownTable(['measure', 'unit', 'before', 'now'], rows, ['measure', 'unit'])}`;
};

/** Replaces the text between `<!-- name -->` and `<!-- /name -->`. Throws without these markers. */
const between = (text: string, name: string, content: string): string => {
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [before, after] = [text.indexOf(start), text.indexOf(end)];
  if (before < 0 || after < before)
    throw new Error(`docs/performance.md has no markers ${start} and ${end}.`);
  return `${text.slice(0, before)}${start}\n\n${content}\n\n${text.slice(after)}`;
};

const write = async (measured: Record<string, Part>): Promise<void> => {
  const stored = JSON.parse(await readFile(RESULTS, 'utf8')) as Record<string, Part>;
  const parts = Object.fromEntries(
    Object.keys(MEASURES).flatMap((name) => {
      const part = measured[name] ?? stored[name];
      return part ? [[name, part] as const] : [];
    }),
  );
  const all = Object.values(parts);
  const budgets = budgetsOf(all.flatMap(({ results }) => results.filter(hasBudget)));
  const figures = all.map(reportOf).join('\n\n');
  await writeFile(RESULTS, `${JSON.stringify(parts, null, 2)}\n`);
  const text = await readFile(DOCUMENT, 'utf8');
  await writeFile(DOCUMENT, between(between(text, 'budgets', budgets), 'figures', figures));
};

const main = async (): Promise<void> => {
  const asked = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
  const unknown = asked.filter((name) => !Object.hasOwn(MEASURES, name));
  if (unknown.length > 0) throw new Error(`There is no part ${unknown}.`);
  const measured: Record<string, Part> = {};
  for (const [name, measure] of Object.entries(MEASURES)) {
    if (asked.length > 0 && !asked.includes(name)) continue;
    measured[name] = await measure();
    logProgress(`${name}: ${measured[name].results.length} figures`);
  }
  if (!isQuick) await write(measured);
  const missed = Object.values(measured).flatMap(({ results }) => results.filter(({ ok }) => !ok));
  for (const { name, value, unit, budget } of missed)
    console.log(`Over budget: ${name}: ${value} ${unit}, budget ${budget}`);
  process.exitCode = missed.length > 0 ? 1 : 0;
};

await main();
