import { expect, test } from '@jest/globals';
import { barPath, lastDays, spentByDay, usageAxes } from '../../../console/balance/usage-chart-rules.ts';

const RANGE = { from: '2026-10-30', to: '2026-11-03' };

test('the last days end with today, in UTC', () => {
  expect(lastDays(new Date('2026-11-02T23:59:59.999Z'), 4)).toEqual(RANGE);
});

test('each day has what was spent on it, and 0 without an item', () => {
  const items = [
    { day: '2026-10-31', xTokens: 7.5 },
    { day: '2026-11-02', xTokens: -2 },
  ];

  expect(spentByDay(RANGE, items)).toEqual([0, 7.5, 0, -2]);
});

test('bars stand on the line of 0, and hang from it where more was refunded than spent', () => {
  const spent = [0, 8, 0, -2];
  const axes = usageAxes(RANGE, spent);

  expect(axes).toEqual({
    ...{ from: Date.parse(RANGE.from), until: Date.parse(RANGE.to) },
    ...{ least: -2, most: 8 },
  });
  expect(barPath(spent, axes, 400, 100)).toBe('M115,80V0H185V80ZM315,80V100H385V80Z');
  expect(barPath([0, 0], usageAxes(RANGE, [0, 0]), 400, 100)).toBe('');
});
