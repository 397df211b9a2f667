import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkBaseline, judge } from '../judge.ts';
import { DRAWN_HEADING, pageWith } from '../page.ts';
import { ROOT } from '../plant.ts';
import { openResults, type Results } from '../results.ts';
import { type Candidate, candidatesOf, draw, readSources } from './candidates.ts';
import { EQUIVALENTS } from './equivalents.ts';
import {
  DRAWN_SUITES,
  type DrawnScore,
  drawnLine,
  drawnSection,
  finderOf,
  scoreText,
  survivorsOf,
} from './report.ts';

/** What is drawn, and how it is judged. */
export interface DrawnOptions {
  count: number;
  /** The seed to draw by again; a new one without. */
  seed: string | undefined;
  /** Files and folders to draw from; all without. */
  paths: readonly string[];
  /** Runs of the simulation for a bug that no test found. */
  runs: number;
  copies: number;
  baseline: boolean;
  /** Asks again about what nothing found. */
  again: boolean;
  /** The page to write the score into. */
  table: string | undefined;
  say: (text: string) => void;
}

/** Findings in a file, each for the text that its source had. */
const openDrawn = (file: string): Results<Candidate> => {
  const results = openResults(file);
  const keyed = (bug: Candidate): Candidate => ({ ...bug, name: `${bug.hash} ${bug.name}` });
  return {
    of: (bug) => results.of(keyed(bug)),
    add: (bug, suite, finding) => results.add(keyed(bug), suite, finding),
  };
};

/** Findings without bugs that no suite found: a repeated run asks for such bugs again. */
const withoutUnfound = (results: Results<Candidate>): Results<Candidate> => {
  const asked = new Set<string>();
  return {
    of: (planting) => {
      const known = results.of(planting);
      return finderOf(known) !== undefined || asked.has(planting.name) ? known : {};
    },
    add: (planting, suite, finding) => {
      asked.add(planting.name);
      results.add(planting, suite, finding);
    },
  };
};

/**
 * Draws bugs that the rules make of the code and asks the suites about each, the quickest first, until one finds it. Findings are kept
 * in a file under `build/` for the seed: the same command goes on where an earlier one was stopped, and asks again about
 * files that have changed. Returns whether each bug was found, or is listed as equivalent.
 */
export const runDrawn = async (options: DrawnOptions): Promise<boolean> => {
  const { count, paths, copies, baseline, table, say } = options;
  const seed = options.seed ?? String(randomInt(1_000_000));
  const candidates = readSources(ROOT, paths).flatMap(candidatesOf);
  const drawn = draw(candidates, count, seed);
  const file = join(ROOT, 'build', 'mutants', `drawn-${seed}.jsonl`);
  say(`${drawn.length} of ${candidates.length} changes drawn with --seed ${seed}; findings in ${file}`);

  const kept = openDrawn(file);
  const results = options.again ? withoutUnfound(kept) : kept;
  const scoreOf = (candidate: Candidate): DrawnScore => ({
    candidate,
    findings: results.of(candidate),
    equivalent: EQUIVALENTS.get(candidate.name),
  });
  const bugs = drawn.filter(({ name }) => !EQUIVALENTS.has(name));
  const depth = { runs: options.runs, seed: 1 };
  if (baseline)
    await checkBaseline(DRAWN_SUITES, bugs, depth, (suite) => say(`${suite} passes without a bug`));
  let done = 0;
  await judge(bugs, {
    suites: DRAWN_SUITES,
    depth,
    copies,
    results,
    isAsked: ({ rule }, suite, known) =>
      finderOf(known) === undefined && (suite !== 'lint' || rule === 'await dropped'),
    judged: (bug, _, seconds) =>
      say(`${++done}/${bugs.length} ${seconds.toFixed(1)} s ${drawnLine(scoreOf(bug))}`),
  });

  const score = drawn.map(scoreOf);
  const survivors = survivorsOf(score);
  say(`\n${scoreText(score)}`);
  for (const survivor of survivors) say(drawnLine(survivor));
  if (table !== undefined) {
    const command = [`--drawn ${count}`, `--seed ${seed}`, ...paths.map((path) => `--paths ${path}`)].join(
      ' ',
    );
    writeFileSync(table, pageWith(table, DRAWN_HEADING, drawnSection(score, command)));
  }
  return survivors.length === 0;
};
