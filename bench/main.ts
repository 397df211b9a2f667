/**
 * Measures what grows with the service, beside budgets and baselines: `npm run bench`. Writes `bench/results.json` and its tables
 * in `docs/performance.md`; with `-- --quick` it measures less and writes nothing. Exits with 1 when a figure misses its budget.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { measureBundles } from './bundles/measure.ts';
import { measureContention } from './contention/measure.ts';
import { measureCosts } from './costs/measure.ts';
import { measureHandlers } from './handlers/measure.ts';
import { measurePages } from './lists/measure.ts';
import { measureLocalRun } from './local-run/measure.ts';
import { isQuick, logProgress, markdownTable } from './publish.ts';
import type { Part, Result } from './results.ts';

const DOCUMENT = new URL('../docs/performance.md', import.meta.url);
const [START, END] = ['<!-- bench -->', '<!-- /bench -->'];

const figure = (value: number | null): string => (value === null ? '' : value.toLocaleString('en'));

const tableOf = (results: readonly Result[]): string =>
  markdownTable(
    ['measure', 'unit', 'before', 'budget', 'now'],
    results.map(({ name, unit, baseline, budget, value, ok }) => [
      name,
      unit,
      figure(baseline),
      figure(budget),
      ok ? figure(value) : `**${figure(value)}**`,
    ]),
    ['measure', 'unit'],
  );

const reportOf = (parts: readonly Part[]): string =>
  parts.map(({ title, note, results }) => `### ${title}\n\n${note}\n\n${tableOf(results)}`).join('\n\n');

const main = async (): Promise<void> => {
  const parts: Part[] = [];
  // The costs put stand-ins behind the AWS clients of this process: what calls a local run comes before.
  const measures = [
    measureBundles,
    measureContention,
    measureLocalRun,
    measureCosts,
    measurePages,
    measureHandlers,
  ];
  for (const measure of measures) {
    const part = await measure();
    parts.push(part);
    logProgress(`${part.title}: ${part.results.length} figures`);
  }
  const results = parts.flatMap((part) => part.results);
  if (!isQuick) {
    const text = await readFile(DOCUMENT, 'utf8');
    const [before, after] = [text.indexOf(START), text.indexOf(END)];
    if (before < 0 || after < before)
      throw new Error(`docs/performance.md has no markers ${START} and ${END}.`);
    await writeFile(new URL('results.json', import.meta.url), `${JSON.stringify(results, null, 2)}\n`);
    await writeFile(
      DOCUMENT,
      `${text.slice(0, before)}${START}\n\n${reportOf(parts)}\n\n${text.slice(after)}`,
    );
  }
  for (const { name, value, unit, budget, ok } of results)
    if (!ok) console.log(`Over budget: ${name}: ${value} ${unit}, budget ${budget}`);
  process.exitCode = results.every(({ ok }) => ok) ? 0 : 1;
};

await main();
