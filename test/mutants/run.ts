/**
 * Plants the bugs of `mutants.ts` one at a time and says which suite notices each: `npm run test:mutants`. Options:
 * `--only NAME` and `--area AREA` (repeatable), `--suites simulation,unit,workflow`, `--runs 2000` and `--seed 1` of
 * the simulation, `--no-baseline` to skip the check that the suites pass without a bug, `--until-noticed` to ask no
 * further suite about a bug that one has noticed, `--copies 2` for the bugs that are planted at once (a simulation keeps
 * one processor busy), `--results FILE` to keep every finding as it comes and to ask nothing again that the file knows,
 * `--table FILE` to write the table as a page.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { AREAS, type Mutant } from './mutant.ts';
import { MUTANTS } from './mutants.ts';
import { copyProject, withPlanted } from './plant.ts';
import { isNoticed, lineOf, missedGoals, pageOf, tableOf } from './report.ts';
import { openResults } from './results.ts';
import { type Depth, runSuite, SUITES, type Suite } from './suites.ts';

const { values } = parseArgs({
  allowNegative: true,
  options: {
    only: { type: 'string', multiple: true },
    area: { type: 'string', multiple: true },
    suites: { type: 'string', default: SUITES.join(',') },
    runs: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    baseline: { type: 'boolean', default: true },
    'until-noticed': { type: 'boolean', default: false },
    copies: { type: 'string', default: '2' },
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

/** Stops unless every suite passes without a bug: a suite that fails anyway would notice anything. */
const checkBaseline = async (suites: readonly Suite[], mutants: readonly Mutant[], depth: Depth) => {
  const copy = copyProject();
  for (const suite of suites) {
    const { result, where, broken } = await runSuite(suite, copy, mutants, depth);
    if (result !== 'unnoticed') throw new Error(`Without a bug, ${suite} fails: ${where} ${broken}`);
    say(`${suite} passes without a bug`);
  }
};

// Exiting removes the copies and ends what runs in them.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

const main = async (): Promise<void> => {
  const suites = known('suite', values.suites.split(','), SUITES);
  const depth = { runs: Number(values.runs), seed: Number(values.seed) };
  const mutants = chosenMutants();
  if (values.baseline) await checkBaseline(suites, mutants, depth);

  const results = openResults(values.results);
  const isAsked = (mutant: Mutant, suite: Suite): boolean => {
    const known = results.of(mutant);
    if (known[suite] !== undefined) return false;
    return !(values['until-noticed'] && Object.values(known).some(isNoticed));
  };
  let done = 0;
  const queue = mutants.values();
  const worker = async (): Promise<void> => {
    const copy = copyProject();
    for (const mutant of queue) {
      await withPlanted(copy, mutant, async () => {
        for (const suite of suites) {
          if (isAsked(mutant, suite))
            results.add(mutant, suite, await runSuite(suite, copy, [mutant], depth));
        }
      });
      say(`${++done}/${mutants.length} ${lineOf(mutant, results.of(mutant))}`);
    }
  };
  await Promise.all(Array.from({ length: Number(values.copies) }, worker));

  const score = mutants.map((mutant) => ({ mutant, findings: results.of(mutant) }));
  say(`\n${tableOf(score, suites)}\n`);
  if (values.table !== undefined) writeFileSync(values.table, pageOf(score, suites, depth));
  const missed = missedGoals(score, suites);
  for (const goal of missed) say(goal);
  if (missed.length > 0) process.exitCode = 1;
};

await main();
