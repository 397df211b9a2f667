import { describe, expect, test } from '@jest/globals';
import { seedOfCall } from '../../../providers/seeds.ts';

const HIGHEST = 2 ** 31 - 1;

describe('the seed of a call', () => {
  test.each<[number | undefined, number, object]>([
    [undefined, 3, {}],
    [0, 0, { seed: 0 }],
    [0, 1, { seed: 1 }],
    [7, 3, { seed: 10 }],
    [HIGHEST - 1, 1, { seed: HIGHEST }],
    [HIGHEST, 1, { seed: 0 }],
    [HIGHEST, 9, { seed: 8 }],
  ])('of a request with seed %p, in call %i, is %j', (seed, call, expected) => {
    expect(seedOfCall({ seed }, call)).toStrictEqual(expected);
  });

  test('differs in every call of a request, and no maker refuses it', () => {
    for (const seed of [0, 7, HIGHEST - 3]) {
      const seeds = Array.from({ length: 15 }, (_, call) => seedOfCall({ seed }, call).seed ?? -1);

      expect(new Set(seeds).size).toBe(15);
      for (const one of seeds) expect(one >= 0 && one <= HIGHEST).toBe(true);
    }
  });
});
