import type { Mutant, Planting } from './mutant.ts';
import type { Depth, Finding, Suite } from './suites.ts';

/** What each suite that was asked said of a bug. */
export type Findings = Partial<Record<Suite, Finding>>;

/** A bug and what the suites said of it. */
export interface Scored {
  mutant: Mutant;
  findings: Findings;
}

/** The share of the bugs that the simulation alone has to notice. */
const SIMULATION_GOAL = 35 / 40;

/** Whether a suite found the bug. */
export const isNoticed = (finding: Finding | undefined): boolean => finding?.result === 'noticed';

/** One bug in a line, with the rule or test that it breaks first. */
export const lineOf = ({ name }: Planting, findings: Findings): string => {
  const texts = Object.entries(findings).map(([suite, { where, broken }]) =>
    [suite, where, broken && `(${broken})`].filter(Boolean).join(' '),
  );
  return `${name}: ${texts.join('; ')}`;
};

const numberNoticed = (score: readonly Scored[], suite: Suite): number =>
  score.filter(({ findings }) => isNoticed(findings[suite])).length;

/** The score as a Markdown table: by area, how many bugs there are and how many each suite noticed. */
export const tableOf = (score: readonly Scored[], suites: readonly Suite[]): string => {
  const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
  return [
    row(['area', 'bugs', ...suites]),
    row(['---', '---:', ...suites.map(() => '---:')]),
    ...[...Map.groupBy(score, ({ mutant }) => mutant.area)].map(([area, bugs]) =>
      row([area, bugs.length, ...suites.map((suite) => numberNoticed(bugs, suite))]),
    ),
  ].join('\n');
};

/** Missed goals: a bug that no suite notices, a suite that could not run, too few bugs noticed by the simulation. */
export const missedGoals = (score: readonly Scored[], suites: readonly Suite[]): string[] => {
  const missed: string[] = [];
  for (const { mutant, findings } of score) {
    const all = Object.values(findings);
    if (!all.some(isNoticed)) missed.push(`Nothing notices: ${mutant.name}.`);
    for (const { result, where } of all) if (result === 'error') missed.push(`${mutant.name}: ${where}`);
  }
  if (!suites.includes('simulation')) return missed;
  const noticed = score.filter(({ findings }) => isNoticed(findings.simulation)).length;
  const goal = Math.floor(score.length * SIMULATION_GOAL);
  const text = `The simulation notices ${noticed} of ${score.length}, and should notice ${goal}.`;
  return noticed < goal ? [...missed, text] : missed;
};

/** The section of the documentation: the score. */
export const writtenSection = (
  score: readonly Scored[],
  suites: readonly Suite[],
  { runs, seed }: Depth,
): string => {
  const none = score.filter(({ findings }) => !Object.values(findings).some(isNoticed)).length;
  return [
    `Written by \`npm run test:mutants -- --table docs/mutants.md\`. A suite gets the bugs that those before it did not notice; the simulation in at most ${runs} runs with seed ${seed}.`,
    `Of ${score.length} bugs ${suites.map((suite) => `${suite} notices ${numberNoticed(score, suite)}`).join(', ')}, and nothing ${none}.`,
  ].join('\n\n');
};
