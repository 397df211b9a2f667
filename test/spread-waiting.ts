import { Sequencer } from './sequencer.ts';

/** Whether a test file waits for a local run for most of its time. */
const isWaiting = ({ path }: { path: string }): boolean => path.includes('/test/contract/');

/**
 * Spreads the files that wait evenly among those that compute, so that processors are busy from a run's beginning to its end. Jest
 * orders files by their last known duration, or by size on a fresh checkout: the waiting ones would all come first.
 */
export default class SpreadWaiting extends Sequencer {
  override async sort(tests: Parameters<InstanceType<typeof Sequencer>['sort']>[0]) {
    const sorted = await super.sort(tests);
    const kinds = [sorted.filter(isWaiting), sorted.filter((test) => !isWaiting(test))];
    return kinds
      .flatMap((kind) => kind.map((test, index) => ({ test, place: index / kind.length })))
      .toSorted((one, other) => one.place - other.place)
      .map(({ test }) => test);
  }
}
