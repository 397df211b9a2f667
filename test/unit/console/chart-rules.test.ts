import { describe, expect, test } from '@jest/globals';
import { amountTicks, axesOf, stepPath, stepsIn, timeTicks } from '../../../console/balance/chart-rules.ts';

const NOW = new Date('2026-11-22T12:00:00.000Z');
const entry = (createdAt: string, balanceAfter: number) => ({ createdAt, balanceAfter });
const ENTRIES = [
  entry('2026-11-10T12:00:00.000Z', 1_000),
  entry('2026-11-21T12:00:00.000Z', 600),
  entry('2026-11-22T00:00:00.000Z', 640),
];

describe('the chart of a period', () => {
  test('begins with the balance that there was at its beginning', () => {
    expect(stepsIn(ENTRIES, NOW, '7 days')).toEqual([
      { at: '2026-11-15T12:00:00.000Z', xTokens: 1_000 },
      { at: '2026-11-21T12:00:00.000Z', xTokens: 600 },
      { at: '2026-11-22T00:00:00.000Z', xTokens: 640 },
    ]);
  });

  test('begins with the first entry where nothing is older', () => {
    expect(stepsIn(ENTRIES, NOW, 'all')[0]).toEqual({ at: '2026-11-10T12:00:00.000Z', xTokens: 1_000 });
    expect(stepsIn([], NOW, 'all')).toEqual([]);
  });

  test('is flat where nothing happened in it', () => {
    expect(stepsIn(ENTRIES.slice(0, 1), NOW, '24 hours')).toEqual([
      { at: '2026-11-21T12:00:00.000Z', xTokens: 1_000 },
    ]);
  });
});

describe('the axes', () => {
  const axes = axesOf(stepsIn(ENTRIES, NOW, '7 days'), NOW);

  test('go from 0 to a round amount above the most, from the first step to now', () => {
    expect(axes).toEqual({
      ...{ from: Date.parse('2026-11-15T12:00:00.000Z'), until: NOW.getTime(), least: 0, most: 1_000 },
    });
  });

  test.each([
    [[0.4], [0, 0.1, 0.2, 0.3, 0.4]],
    [[87], [0, 20, 40, 60, 80, 100]],
    [[1_234_567], [0, 500_000, 1_000_000, 1_500_000]],
    [
      [-30, 50],
      [-40, -20, 0, 20, 40, 60],
    ],
    [[0], [0, 0.2, 0.4, 0.6, 0.8, 1]],
  ])('of %j have marks at %j', (amounts, marks) => {
    const steps = amounts.map((xTokens) => ({ at: '2026-11-22T11:00:00.000Z', xTokens }));
    const ticks = amountTicks(axesOf(steps, NOW));

    expect(ticks.map(({ value }) => value)).toEqual(marks);
    expect([ticks[0]?.percent, ticks.at(-1)?.percent]).toEqual([0, 100]);
  });

  test('have instants at equal distances', () => {
    expect(timeTicks(axes, 2).map(({ percent, value }) => [percent, new Date(value).toISOString()])).toEqual([
      [0, '2026-11-15T12:00:00.000Z'],
      [50, '2026-11-19T00:00:00.000Z'],
      [100, '2026-11-22T12:00:00.000Z'],
    ]);
  });

  test('hold the steps as a line from one edge to the other', () => {
    const steps = [
      { at: '2026-11-22T11:58:20.000Z', xTokens: 100 },
      { at: '2026-11-22T11:59:10.000Z', xTokens: 50 },
    ];

    expect(stepPath(steps, axesOf(steps, NOW), 200, 100)).toBe('M0,0H100V50H200');
    expect(stepPath([], axesOf([], NOW), 200, 100)).toBe('');
  });
});
