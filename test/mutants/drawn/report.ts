import type { Findings } from '../report.ts';
import type { Finding, Suite } from '../suites.ts';
import type { Candidate } from './candidates.ts';

/** The suites in the order in which they are asked about a drawn bug: the quickest first. */
export const DRAWN_SUITES = [
  'lint',
  'unit',
  'workflow',
  'types',
  'simulation',
] as const satisfies readonly Suite[];

/** What was found of a drawn bug; `equivalent` is why it is none. */
export interface DrawnScore {
  candidate: Candidate;
  findings: Findings;
  equivalent: string | undefined;
}

/**
 * Whether a suite found a drawn bug. A suite that hangs or cannot run counts as having found it: no such change would
 * be released.
 */
const isFound = ({ result }: Finding): boolean => result !== 'unnoticed';

/** The suite that found a bug; undefined when none did. */
export const finderOf = (findings: Findings): Suite | undefined =>
  DRAWN_SUITES.find((suite) => findings[suite] && isFound(findings[suite]));

const hasSurvived = ({ findings, equivalent }: DrawnScore): boolean =>
  equivalent === undefined && finderOf(findings) === undefined;

/** The drawn bugs that nothing found and that nobody has shown to be none. */
export const survivorsOf = (score: readonly DrawnScore[]): DrawnScore[] => score.filter(hasSurvived);

/** A bug in a line: its place, the change, and the suite that found it. */
export const drawnLine = ({ candidate, findings, equivalent }: DrawnScore): string => {
  const { file, line, name } = candidate;
  const finder = finderOf(findings);
  const finding = finder && findings[finder];
  const verdict = finding ? `${finder} ${finding.where} ${finding.broken}`.trim() : 'NOT FOUND';
  return `${file}:${line} ${name} | ${equivalent === undefined ? verdict : `equivalent: ${equivalent}`}`;
};

/** Bugs by who found them. */
const countsOf = (score: readonly DrawnScore[]): Record<Suite | 'nothing' | 'equivalent', number> => {
  const counts = { lint: 0, unit: 0, workflow: 0, types: 0, simulation: 0, nothing: 0, equivalent: 0 };
  for (const { findings, equivalent } of score)
    counts[equivalent === undefined ? (finderOf(findings) ?? 'nothing') : 'equivalent']++;
  return counts;
};

/** The score in two sentences. */
export const scoreText = (score: readonly DrawnScore[]): string => {
  const { lint, unit, workflow, types, simulation, nothing, equivalent } = countsOf(score);
  const bugs = score.length - equivalent;
  const share = bugs === 0 ? 0 : Math.round((100 * (bugs - nothing)) / bugs);
  return (
    `Of ${score.length} drawn changes, ${equivalent} change nothing that is promised. Of the other ${bugs}, the linter found ${lint}, ` +
    `unit tests ${unit} more, workflow tests ${workflow} more, the compiler ${types} more, the simulation ${simulation} more, and nothing ${nothing}: a score of ${share} %.`
  );
};

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;

/** The section of the documentation: the score, by rule, and what was not found. `drawn` says how they were drawn. */
export const drawnSection = (score: readonly DrawnScore[], drawn: string): string => {
  const columns = [...DRAWN_SUITES, 'nothing', 'equivalent'] as const;
  const rules = Map.groupBy(score, ({ candidate }) => candidate.rule);
  const rows = [...rules].toSorted(([a], [b]) => a.localeCompare(b));
  const survivors = survivorsOf(score).map(({ candidate }) => `- \`${candidate.name.replaceAll('`', "'")}\``);
  return [
    `Written by \`npm run test:mutants -- ${drawn} --table docs/mutants.md\`.\n`,
    `${scoreText(score)}\n`,
    row(['rule', 'drawn', ...columns]),
    row(['rule', ...columns, ''].map(() => '---')),
    ...rows.map(([rule, of]) => row([rule, of.length, ...columns.map((column) => countsOf(of)[column])])),
    ...(survivors.length > 0 ? ['\nNot found:\n', ...survivors] : []),
  ].join('\n');
};
