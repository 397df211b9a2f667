import { Sequencer } from '../sequencer.ts';
import { NEAREST_TO } from './suites.ts';

const wordsOf = (path: string): Set<string> => new Set(path.split(/[/.-]/));

/** How many words of a file's path are in a test's: tests mirror what they test. */
export const nearnessOf = (test: string, files: readonly string[]): number => {
  const words = wordsOf(test);
  const sharedWith = (file: string): number => [...wordsOf(file)].filter((word) => words.has(word)).length;
  return Math.max(0, ...files.map(sharedWith));
};

/** Runs the test files first whose paths are most like those of the changed files: most bugs are found by the first. */
export default class NearestFirst extends Sequencer {
  override sort<T extends { path: string }>(tests: T[]): T[] {
    const files = (process.env[NEAREST_TO] ?? '').split(',');
    const nearness = new Map(tests.map((test) => [test, nearnessOf(test.path, files)]));
    return tests.toSorted((a, b) => (nearness.get(b) ?? 0) - (nearness.get(a) ?? 0));
  }
}
