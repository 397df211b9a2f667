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

/** The score as a Markdown table: the run of the simulation and the test file that noticed each bug. */
export const tableOf = (score: readonly Scored[], suites: readonly Suite[]): string => {
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const cellOf = (finding: Finding | undefined): string => finding?.where.split('/').at(-1) ?? '';
  return [
    row(['bug', 'area', ...suites]),
    row(['---', '---', ...suites.map(() => '---')]),
    ...score.map(({ mutant, findings }) =>
      row([mutant.name, mutant.area, ...suites.map((suite) => cellOf(findings[suite]))]),
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

/** The section of the documentation: the score and the table. */
export const writtenSection = (
  score: readonly Scored[],
  suites: readonly Suite[],
  { runs, seed }: Depth,
): string => {
  const numberNoticed = (suite: Suite): number =>
    score.filter(({ findings }) => isNoticed(findings[suite])).length;
  const none = score.filter(({ findings }) => !Object.values(findings).some(isNoticed)).length;
  return `Written by \`npm run test:mutants -- --table docs/mutants.md\`. A cell of the simulation is the run that noticed
the bug, of at most ${runs} with seed ${seed}; a cell of another suite is the test file that did. \`-\` is a bug that went unnoticed; an
empty cell, a suite that was not asked because another had noticed it.

Of ${score.length} bugs the simulation notices ${numberNoticed('simulation')}; nothing notices ${none}.

${tableOf(score, suites)}
`;
};
