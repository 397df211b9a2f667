/**
 * Plants bugs one at a time and says which suite notices each: `npm run test:mutants`.
 *
 * | for all bugs | |
 * |---|---|
 * | `--runs N` | runs of the simulation, 2,000 by default and 300 for drawn bugs |
 * | `--seed S` | seed of the simulation, or of the draw |
 * | `--no-baseline` | skips the check that the suites pass without a bug |
 * | `--copies N` | bugs that are planted at once; a simulation keeps one processor busy |
 * | `--table FILE` | writes the score into a page |
 *
 * | for the bugs of `mutants.ts` | |
 * |---|---|
 * | `--only NAME`, `--area AREA` | some of them; both repeatable |
 * | `--suites simulation,unit,workflow` | runs only these |
 * | `--until-noticed` | runs no further suite for a bug that one has noticed |
 * | `--results FILE` | keeps every finding, and repeats none that the file has |
 *
 * | for bugs that the rules of `drawn/` make of the code | |
 * |---|---|
 * | `--drawn 200` | draws this many at random, different ones each time without `--seed` |
 * | `--paths FILE_OR_FOLDER` | draws from there; repeatable |
 * | `--again` | runs the suites again for bugs that none found |
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { runDrawn } from './drawn/run-drawn.ts';
import { checkBaseline, judge } from './judge.ts';
import { AREAS, type Mutant } from './mutant.ts';
import { MUTANTS } from './mutants.ts';
import { pageWith, WRITTEN_HEADING } from './page.ts';
import { isNoticed, lineOf, missedGoals, tableOf, writtenSection } from './report.ts';
import { openResults } from './results.ts';
import { SUITES } from './suites.ts';

const { values } = parseArgs({
  allowNegative: true,
  options: {
    only: { type: 'string', multiple: true },
    area: { type: 'string', multiple: true },
    suites: { type: 'string', default: SUITES.join(',') },
    drawn: { type: 'string' },
    paths: { type: 'string', multiple: true },
    again: { type: 'boolean', default: false },
    runs: { type: 'string' },
    seed: { type: 'string' },
    baseline: { type: 'boolean', default: true },
    'until-noticed': { type: 'boolean', default: false },
    copies: { type: 'string' },
    results: { type: 'string' },
    table: { type: 'string' },
  },
});

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** The wanted names, each of which must be known. */
const known = <T extends string>(what: string, wanted: readonly string[], all: readonly T[]): T[] => {
  const strange = wanted.filter((name) => !(all as readonly string[]).includes(name));
  if (strange.length > 0) throw new Error(`There is no ${what} ${strange.join(', ')}: ${all.join(', ')}.`);
  return all.filter((name) => wanted.includes(name));
};

const chosenMutants = (): Mutant[] => {
  const names =
    values.only &&
    known(
      'mutant',
      values.only,
      MUTANTS.map(({ name }) => name),
    );
  const areas = values.area && known('area', values.area, AREAS);
  return MUTANTS.filter(
    ({ name, area }) => (names?.includes(name) ?? true) && (areas?.includes(area) ?? true),
  );
};

// Exiting removes the copies and ends what runs in them.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

const main = async (): Promise<void> => {
  if (values.drawn !== undefined) {
    const isComplete = await runDrawn({
      count: Number(values.drawn),
      seed: values.seed,
      paths: values.paths ?? [],
      runs: Number(values.runs ?? 300),
      copies: Number(values.copies ?? 1),
      baseline: values.baseline,
      again: values.again,
      table: values.table,
      say,
    });
    if (!isComplete) process.exitCode = 1;
    return;
  }
  const suites = known('suite', values.suites.split(','), SUITES);
  const depth = { runs: Number(values.runs ?? 2000), seed: Number(values.seed ?? 1) };
  const mutants = chosenMutants();
  if (values.baseline)
    await checkBaseline(suites, mutants, depth, (suite) => say(`${suite} passes without a bug`));

  const results = openResults(values.results);
  let done = 0;
  await judge(mutants, {
    suites,
    depth,
    copies: Number(values.copies ?? 2),
    results,
    isAsked: (_mutant, _suite, known) => !(values['until-noticed'] && Object.values(known).some(isNoticed)),
    judged: (mutant, findings) => say(`${++done}/${mutants.length} ${lineOf(mutant, findings)}`),
  });

  const score = mutants.map((mutant) => ({ mutant, findings: results.of(mutant) }));
  say(`\n${tableOf(score, suites)}\n`);
  if (values.table !== undefined) {
    const section = writtenSection(score, suites, depth);
    writeFileSync(values.table, pageWith(values.table, WRITTEN_HEADING, section));
  }
  const missed = missedGoals(score, suites);
  for (const goal of missed) say(goal);
  if (missed.length > 0) process.exitCode = 1;
};

await main();
