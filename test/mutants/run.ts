/**
 * Plants the bugs of `mutants.ts` one at a time and says which suite notices each: `npm run test:mutants`. Options:
 * `--only NAME` and `--area AREA` (repeatable), `--suites simulation,unit,workflow`, `--runs 2000` and `--seed 1` of
 * the simulation, `--no-baseline` to skip the check that the suites pass without a bug.
 */
import { parseArgs } from 'node:util';
import { AREAS, type Mutant } from './mutant.ts';
import { MUTANTS } from './mutants.ts';
import { copyProject, withPlanted } from './plant.ts';
import { type Findings, lineOf, missedGoals, tableOf } from './report.ts';
import { type Depth, runSuite, SUITES, type Suite } from './suites.ts';

/** Bugs planted at once, each in a copy of its own: a simulation keeps one processor busy. */
const COPIES = 2;

const { values } = parseArgs({
  allowNegative: true,
  options: {
    only: { type: 'string', multiple: true },
    area: { type: 'string', multiple: true },
    suites: { type: 'string', default: SUITES.join(',') },
    runs: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    baseline: { type: 'boolean', default: true },
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

  const found = new Map<Mutant, Findings>();
  const queue = mutants.values();
  const worker = async (): Promise<void> => {
    const copy = copyProject();
    for (const mutant of queue) {
      const findings: Findings = {};
      await withPlanted(copy, mutant, async () => {
        for (const suite of suites) findings[suite] = await runSuite(suite, copy, [mutant], depth);
      });
      found.set(mutant, findings);
      say(`${found.size}/${mutants.length} ${lineOf(mutant, findings)}`);
    }
  };
  await Promise.all(Array.from({ length: COPIES }, worker));

  const score = mutants.map((mutant) => ({ mutant, findings: found.get(mutant) ?? {} }));
  say(`\n${tableOf(score, suites)}\n`);
  const missed = missedGoals(score, suites);
  for (const goal of missed) say(goal);
  if (missed.length > 0) process.exitCode = 1;
};

await main();
