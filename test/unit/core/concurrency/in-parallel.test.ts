import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { inParallel } from '../../../../core/concurrency/in-parallel.ts';

/** Works that end when the test says so. */
const heldWorks = () => {
  const ends = new Map<number, { resolve: () => void; reject: (error: Error) => void }>();
  const begun: number[] = [];
  const work = (item: number): Promise<void> => {
    begun.push(item);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    ends.set(item, { resolve, reject });
    return promise;
  };
  return { ends, begun, work };
};

describe('works in parallel', () => {
  test.each([
    ['an array', [1, 2, 3, 4]],
    [
      'an asynchronous source',
      (async function* () {
        yield* [1, 2, 3, 4];
      })(),
    ],
  ])('begin in order, as many as allowed at a time: %s', async (_, items) => {
    const { ends, begun, work } = heldWorks();
    const all = inParallel(items, 2, work);

    await turn();
    expect(begun).toEqual([1, 2]);
    ends.get(2)?.resolve();
    await turn();
    expect(begun).toEqual([1, 2, 3]);
    for (const item of [1, 3]) ends.get(item)?.resolve();
    await turn();
    ends.get(4)?.resolve();
    await all;
    expect(begun).toEqual([1, 2, 3, 4]);
  });

  test('are fewer than allowed when there are fewer items', async () => {
    const done: number[] = [];
    await inParallel([1], 4, async (item) => {
      done.push(item);
    });
    await inParallel([], 4, () => Promise.reject(new Error('there is no item')));

    expect(done).toEqual([1]);
  });

  test('begin no more after an error, and reject with it once the others have ended', async () => {
    const { ends, begun, work } = heldWorks();
    let isOver = false;
    const all = inParallel([1, 2, 3, 4], 2, work).finally(() => {
      isOver = true;
    });
    const outcome = expect(all).rejects.toThrow('broken');

    await turn();
    ends.get(1)?.reject(new Error('broken'));
    await turn();
    expect([begun, isOver]).toEqual([[1, 2], false]);
    ends.get(2)?.resolve();
    await outcome;
    expect(begun).toEqual([1, 2]);
  });

  test('reject when the source fails', async () => {
    const source = async function* () {
      yield 1;
      throw new Error('no more');
    };

    await expect(inParallel(source(), 2, async () => undefined)).rejects.toThrow('no more');
  });
});
