import { type ChildProcess, execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Planting } from './mutant.ts';
import type { Copy } from './plant.ts';

/** The suites that can notice a bug, in the order of their runs. */
export const SUITES = ['simulation', 'unit', 'workflow'] as const;
/** `lint` is one rule of the linter: that somebody waits for every promise. `types` is the compiler. */
export type Suite = (typeof SUITES)[number] | 'lint' | 'types';

/** How a suite took a bug. */
export interface Finding {
  /** `error`: the suite could not run, or did not come to its end in time. That counts as unnoticed. */
  result: 'noticed' | 'unnoticed' | 'error';
  /** The run of the simulation or the test file that noticed it; for an error, its cause. */
  where: string;
  /** The first rule or test that was broken. */
  broken: string;
}

/** How far the simulation looks. */
export interface Depth {
  runs: number;
  seed: number;
}

/** The variable that holds the files whose bugs are looked for, separated by commas. */
export const NEAREST_TO = 'MUTANTS_NEAREST_TO';

const UNNOTICED: Finding = { result: 'unnoticed', where: '-', broken: '' };

/** Fifteen times what a run takes on a processor of its own, and a minute to load. */
const MS_PER_RUN = 1_500;
const LOADING_MS = 60_000;
const LINT_LIMIT_MS = 120_000;
const TYPES_LIMIT_MS = 300_000;
/** Over twice what all unit tests take in one process of an idle machine. */
const JEST_LIMIT_MS = 600_000;
/** Of one test. A bug can make it wait for ever; the slowest takes a few seconds. */
const TEST_LIMIT_MS = 30_000;

interface Ended {
  exitCode: number;
  text: string;
  timedOut: boolean;
}

/** Running child processes, which end with this process. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

const runNode = ({ root }: Copy, args: readonly string[], timeout: number): Promise<Ended> =>
  new Promise((resolve) => {
    const options = { cwd: root, timeout, killSignal: 'SIGKILL', maxBuffer: 64 * 1024 * 1024 } as const;
    const child = execFile(process.execPath, args, options, (error, stdout, stderr) => {
      running.delete(child);
      const exitCode = error ? Number(error.code ?? 1) : 0;
      resolve({ exitCode, text: stdout + stderr, timedOut: error?.killed === true });
    });
    running.add(child);
  });

/** Runs a suite on the code in the copy. The bugs in `mutants` decide which tests run. */
export const runSuite = (
  suite: Suite,
  copy: Copy,
  mutants: readonly Planting[],
  depth: Depth,
): Promise<Finding> => {
  if (suite === 'lint') return lint(copy, mutants);
  if (suite === 'types') return checkTypes(copy);
  return suite === 'simulation' ? simulate(copy, depth) : runJest(suite, copy, mutants);
};

const lint = async (copy: Copy, mutants: readonly Planting[]): Promise<Finding> => {
  const options = ['lint', '--only=nursery/noFloatingPromises', '--error-on-warnings', '--colors=off'];
  const files = mutants.map(({ file }) => file).filter((file) => file.endsWith('.ts'));
  if (files.length === 0) return UNNOTICED;
  return lintFinding(
    await runNode(copy, ['node_modules/@biomejs/biome/bin/biome', ...options, ...files], LINT_LIMIT_MS),
  );
};

/** Reads what the linter said. */
export const lintFinding = ({ exitCode, text, timedOut }: Ended): Finding => {
  if (exitCode === 0) return UNNOTICED;
  const place = /^(\S+:\d+):\d+ lint\//m.exec(text)?.[1];
  if (place === undefined) return errorOf(text, timedOut);
  return { result: 'noticed', where: place, broken: 'noFloatingPromises' };
};

/** Compiles without output. Unused names are accepted, since an author of the same change would remove these names as well. */
const NO_BUILD = ['--noEmit', '--noUnusedLocals', 'false', '--noUnusedParameters', 'false'];

/** The compiled folders. Without the packages, which the compiler would read twice: in the copy and, by the modules, in the work tree. */
const PLANTED_IN = { extends: './tsconfig.json', include: ['core', 'functions', 'providers', 'lib'] };

const checkTypes = async (copy: Copy): Promise<Finding> => {
  const project = join(copy.root, 'tsconfig.planted.json');
  writeFileSync(project, JSON.stringify(PLANTED_IN));
  const args = ['node_modules/typescript/bin/tsc', '-p', project, ...NO_BUILD];
  return typesFinding(await runNode(copy, args, TYPES_LIMIT_MS));
};

/** Reads what the compiler said. */
export const typesFinding = ({ exitCode, text, timedOut }: Ended): Finding => {
  if (exitCode === 0) return UNNOTICED;
  const [, file, line, broken = ''] = /^(\S+)\((\d+),\d+\): error (TS\d+)/m.exec(text) ?? [];
  if (file === undefined) return errorOf(text, timedOut);
  return { result: 'noticed', where: `${file}:${line}`, broken };
};

const simulate = async (copy: Copy, { runs, seed }: Depth): Promise<Finding> => {
  const options = ['--runs', String(runs), '--seed', String(seed), '--no-shrink'];
  const limit = runs * MS_PER_RUN + LOADING_MS;
  return simulationFinding(await runNode(copy, ['test/simulation/simulate.ts', ...options], limit));
};

/** Reads what the simulation said. */
export const simulationFinding = ({ exitCode, text, timedOut }: Ended): Finding => {
  if (exitCode === 0) return UNNOTICED;
  const run = /^Run (\d+) failed/m.exec(text)?.[1];
  if (run === undefined) return errorOf(text, timedOut);
  return { result: 'noticed', where: run, broken: /What is wrong:\n\s*(.*)/.exec(text)?.[1] ?? '' };
};

const runJest = async (
  suite: 'unit' | 'workflow',
  copy: Copy,
  mutants: readonly Planting[],
): Promise<Finding> => {
  const files = [...new Set(mutants.map(({ file }) => file))];
  // State machines are read, not imported: only the workflow tests depend on them.
  const sources = files.filter((file) => file.endsWith('.ts'));
  const whole = suite === 'workflow' && sources.length < files.length;
  if (sources.length === 0 && !whole) return UNNOTICED;
  const tests = whole ? [`test/${suite}`] : [...sources, '--findRelatedTests', '--passWithNoTests'];
  // A bug can fill the memory.
  const flags = [
    '--max-old-space-size=3000',
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
  ];
  const options = [
    '--bail',
    '--forceExit',
    '--runInBand',
    `--testTimeout=${TEST_LIMIT_MS}`,
    `--cacheDirectory=${copy.cache}`,
    '--testSequencer=<rootDir>/test/mutants/nearest-first.ts',
    ...['--selectProjects', suite],
  ];
  process.env[NEAREST_TO] = files.join(',');
  const args = [...flags, 'node_modules/jest/bin/jest.js', ...tests, ...options];
  return jestFinding(await runNode(copy, args, JEST_LIMIT_MS));
};

/** Reads what jest said. */
export const jestFinding = ({ exitCode, text, timedOut }: Ended): Finding => {
  if (exitCode === 0) return UNNOTICED;
  const file = /^FAIL \S+ (\S+)/m.exec(text)?.[1];
  if (file === undefined) return errorOf(text, timedOut);
  return { result: 'noticed', where: file, broken: /● (.* › .*)/.exec(text)?.[1] ?? '' };
};

const errorOf = (text: string, timedOut: boolean): Finding => {
  const reason = timedOut ? 'did not end in time' : (text.trim().split('\n').at(-1) ?? '');
  return { result: 'error', where: `error: ${reason}`, broken: '' };
};
