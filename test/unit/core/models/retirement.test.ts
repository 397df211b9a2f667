import { describe, expect, test } from '@jest/globals';
import {
  type Retirement,
  type Retirements,
  retiredProblem,
  retirementConflict,
  successorIn,
} from '../../../../core/models/retirement.ts';
import { NOW } from '../../builders/clocks.ts';

const at = (days: number): string => new Date(NOW.getTime() + days * 86_400_000).toISOString();
/** Ends of models: in how many days, and by which model they are replaced. */
const ends = (of: Record<string, [days: number, replacedBy?: string]>): Retirements =>
  new Map(
    Object.entries(of).map(([id, [days, replacedBy]]): [string, { retirement: Retirement }] => [
      id,
      {
        retirement: {
          announcedAt: at(-9),
          retiresAt: at(days),
          ...(replacedBy !== undefined && { replacedBy }),
        },
      },
    ]),
  );

describe('a retired model', () => {
  test.each<[string, Retirements, string | undefined]>([
    ['without an end is not refused', new Map([['old', {}]]), undefined],
    ['is not refused before its end', ends({ old: [1, 'new'] }), undefined],
    ['is refused from its end on', ends({ old: [0, 'new'] }), `was retired at ${at(0)}: use new`],
    ['names no successor where there is none', ends({ old: [-1] }), `was retired at ${at(-1)}`],
    [
      'names the successor that is left',
      ends({ old: [-3, 'newer'], newer: [-2, 'newest'], newest: [5] }),
      `was retired at ${at(-3)}: use newest`,
    ],
    ['names none when none is left', ends({ old: [-3, 'new'], new: [-2] }), `was retired at ${at(-3)}`],
    [
      'ends also where successors name each other',
      ends({ old: [-3, 'new'], new: [-3, 'old'] }),
      expect.stringMatching(/^was retired at /) as unknown as string,
    ],
  ])('%s', (_, settings, problem) => {
    expect(retiredProblem('old', settings, NOW)).toEqual(problem);
  });

  test('is read out of the refusal that names its successor', () => {
    const problem = retiredProblem('old', ends({ old: [0, 'xA:b-1.0'] }), NOW) ?? '';
    expect(successorIn(problem)).toBe('xA:b-1.0');
    expect(successorIn(retiredProblem('old', ends({ old: [0] }), NOW) ?? '')).toBeUndefined();
  });
});

describe('an end of a model is in conflict', () => {
  const conflict = (days: number, replacedBy: string | undefined, settings: Retirements) =>
    retirementConflict('old', { retiresAt: at(days), replacedBy }, settings, NOW);

  test.each([0, 5])('with a successor that ends %p days before', (earlier) => {
    expect(conflict(10, 'new', ends({ new: [10 - earlier] }))).toMatch(/^new itself retires at /);
  });

  test.each([0, 5])('with a model that it is to replace and that ends %p days later', (later) => {
    expect(conflict(10, undefined, ends({ former: [10 + later, 'old'] }))).toMatch(
      /former.*another successor/,
    );
  });

  test('not with a model that it replaced, though its own end is announced for an earlier instant', () => {
    expect(conflict(-2, undefined, ends({ former: [-1, 'old'] }))).toBeUndefined();
  });

  test.each<[string, Retirements]>([
    ['with a successor that ends later', ends({ new: [11] })],
    ['with a model that it is to replace and that ends earlier', ends({ former: [9, 'old'] })],
    ['with a model that it replaced', ends({ former: [-1, 'old'] })],
    ['with a model that another replaces', ends({ former: [20, 'new'] })],
  ])('not %s', (_, settings) => {
    expect(conflict(10, 'new', settings)).toBeUndefined();
  });
});
