import { describe, expect, test } from '@jest/globals';
import { readSchedule } from '../../src/events/schedule.ts';

describe('a schedule expression', () => {
  test.each([
    ['rate(1 minute)', 60_000],
    ['rate(5 minutes)', 300_000],
    ['rate(1 hour)', 3_600_000],
    ['rate(2 days)', 172_800_000],
  ])('%s', (expression, everyMilliseconds) => {
    expect(readSchedule(expression)).toEqual({ everyMilliseconds });
  });

  test.each([
    ...['rate(1 minutes)', 'rate(2 minute)', 'rate(0 minutes)', 'rate(5 seconds)', 'rate(1.5 hours)'],
    ...['at(2026-01-01T00:00:00)', 'cron(0 12 * * ? *)'],
  ])('%s is refused by name', (expression) => {
    expect(() => readSchedule(expression)).toThrow(`${expression} is not a rate`);
  });

  test('that no timer of Node.js can keep is refused by name', () => {
    expect(readSchedule('rate(24 days)').everyMilliseconds).toBeLessThan(2 ** 31);
    expect(() => readSchedule('rate(25 days)')).toThrow('rate(25 days) is longer than 24 days');
  });
});
