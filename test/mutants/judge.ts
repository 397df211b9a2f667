import type { Planting } from './mutant.ts';
import { copyProject, withPlanted } from './plant.ts';
import type { Findings } from './report.ts';
import type { Results } from './results.ts';
import { type Depth, runSuite, type Suite } from './suites.ts';

/** How bugs are judged. */
export interface Judgement<P extends Planting> {
  suites: readonly Suite[];
  depth: Depth;
  /** How many are planted at once, each in a copy of its own. */
  copies: number;
  results: Results<P>;
  /** Whether a suite is worth asking about a bug, by what others have said of it. */
  isAsked: (planting: P, suite: Suite, known: Findings) => boolean;
  /** Called when nothing is left to ask about a bug, with the seconds that this took. */
  judged: (planting: P, findings: Findings, seconds: number) => void;
}

/** Stops unless every suite passes without a bug: a suite that fails anyway would notice anything. */
export const checkBaseline = async (
  suites: readonly Suite[],
  plantings: readonly Planting[],
  depth: Depth,
  passed: (suite: Suite) => void,
): Promise<void> => {
  const copy = copyProject();
  for (const suite of suites) {
    const { result, where, broken } = await runSuite(suite, copy, plantings, depth);
    if (result !== 'unnoticed') throw new Error(`Without a bug, ${suite} fails: ${where} ${broken}`);
    passed(suite);
  }
};

/** Plants bugs one at a time and asks the suites in their order. Asks nothing that the results know. */
export const judge = async <P extends Planting>(
  plantings: readonly P[],
  judgement: Judgement<P>,
): Promise<void> => {
  const { suites, depth, copies, results, isAsked, judged } = judgement;
  const queue = plantings.values();
  const worker = async (): Promise<void> => {
    const copy = copyProject();
    for (const planting of queue) {
      const startedAtMs = Date.now();
      await withPlanted(copy, planting, async () => {
        for (const suite of suites) {
          const known = results.of(planting);
          if (known[suite] !== undefined || !isAsked(planting, suite, known)) continue;
          const finding = await runSuite(suite, copy, [planting], depth);
          results.add(planting, suite, finding);
        }
      });
      judged(planting, results.of(planting), (Date.now() - startedAtMs) / 1000);
    }
  };
  await Promise.all(Array.from({ length: copies }, worker));
};
