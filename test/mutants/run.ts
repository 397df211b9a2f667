import { writeFileSync } from 'node:fs';
import { plainCommand, positiveNumber } from '../../ops/plain-command.ts';
import { runDrawn } from './drawn/run-drawn.ts';
import { checkBaseline, judge } from './judge.ts';
import { AREAS, type Mutant } from './mutant.ts';
import { MUTANTS } from './mutants.ts';
import { pageWith, WRITTEN_HEADING } from './page.ts';
import { isNoticed, lineOf, missedGoals, tableOf, writtenSection } from './report.ts';
import { openResults } from './results.ts';
import { SUITES } from './suites.ts';

interface Options {
  only?: string[];
  area?: string[];
  suites: string;
  drawn?: number;
  paths?: string[];
  again?: true;
  runs?: number;
  seed?: string;
  baseline: boolean;
  untilNoticed?: true;
  copies?: number;
  results?: string;
  table?: string;
}

const collect = (value: string, previous: string[] = []): string[] => [...previous, value];

const values = plainCommand('test:mutants', 'Plants bugs one at a time, and says which suite notices each.')
  .optionsGroup('For all bugs:')
  .option('--runs <number>', 'runs of the simulation: 2000, of drawn bugs 300', positiveNumber)
  .option('--seed <text>', 'of the simulation, or of the draw')
  .option('--no-baseline', 'skip the check that the suites pass without a bug')
  .option('--copies <number>', 'bugs planted at once; a simulation keeps one processor busy', positiveNumber)
  .option('--table <file>', 'write the score into this page')
  .optionsGroup('For the bugs of test/mutants/mutants.ts:')
  .option('--only <name>', 'this bug; repeatable', collect)
  .option('--area <name>', 'the bugs of this area; repeatable', collect)
  .option('--suites <names>', 'run only these suites', SUITES.join(','))
  .option('--until-noticed', 'run no further suite for a bug that one has noticed')
  .option('--results <file>', 'keep every finding, and repeat none that the file has')
  .optionsGroup('For bugs that the rules of test/mutants/drawn make of the code:')
  .option(
    '--drawn <number>',
    'draw this many at random, different ones each time without --seed',
    positiveNumber,
  )
  .option('--paths <path>', 'draw from this file or folder; repeatable', collect)
  .option('--again', 'run the suites again for bugs that none found')
  .parse()
  .opts<Options>();

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
      count: values.drawn,
      seed: values.seed,
      paths: values.paths ?? [],
      runs: values.runs ?? 300,
      copies: values.copies ?? 1,
      baseline: values.baseline,
      again: values.again === true,
      table: values.table,
      say,
    });
    if (!isComplete) process.exitCode = 1;
    return;
  }
  const suites = known('suite', values.suites.split(','), SUITES);
  const depth = { runs: values.runs ?? 2000, seed: Number(values.seed ?? 1) };
  const mutants = chosenMutants();
  if (values.baseline)
    await checkBaseline(suites, mutants, depth, (suite) => say(`${suite} passes without a bug`));

  const results = openResults(values.results);
  let done = 0;
  await judge(mutants, {
    suites,
    depth,
    copies: values.copies ?? 2,
    results,
    isAsked: (_mutant, _suite, known) => !(values.untilNoticed && Object.values(known).some(isNoticed)),
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
