import { createRequire } from 'node:module';

// Its types are those of CommonJS, and an import of it would load another build.
const sequencer: typeof import('@jest/test-sequencer') = createRequire(import.meta.url)(
  '@jest/test-sequencer',
);

const isSimulation = ({ path }: { path: string }): boolean => path.includes('/test/simulation/');

/**
 * Starts the simulation's files before all others: they are short, and run longest. Jest orders files by their last
 * known duration, or by size on a fresh checkout.
 */
export default class SimulationFirst extends sequencer.default {
  override async sort(tests: Parameters<InstanceType<typeof sequencer.default>['sort']>[0]) {
    const sorted = await super.sort(tests);
    return sorted.toSorted((a, b) => Number(isSimulation(b)) - Number(isSimulation(a)));
  }
}
