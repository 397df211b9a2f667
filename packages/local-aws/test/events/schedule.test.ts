import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { nextCronTime, readSchedule } from '../../src/events/schedule.ts';

describe('a schedule expression', () => {
  test.each([
    ['rate(1 minute)', { everyMilliseconds: 60_000 }],
    ['rate(5 minutes)', { everyMilliseconds: 300_000 }],
    ['rate(1 hour)', { everyMilliseconds: 3_600_000 }],
    ['rate(2 days)', { everyMilliseconds: 172_800_000 }],
    ['cron(0 12 * * ? *)', { cron: '0 12 * * ? *' }],
  ])('%s', (expression, expected) => {
    expect(readSchedule(expression)).toEqual(expected);
  });

  test.each([
    'rate(1 minutes)',
    'rate(2 minute)',
    'rate(0 minutes)',
    'rate(5 seconds)',
    'rate(1.5 hours)',
    'at(2026-01-01T00:00:00)',
    'cron(0 12 * * ?)',
    'cron(0 12 * * * *)',
    'cron(0 12 ? * ? *)',
    'cron(60 12 * * ? *)',
    'cron(0 24 * * ? *)',
    'cron(0 12 0 * ? *)',
    'cron(0 12 L * ? *)',
    'cron(0 12 ? * 6#3 *)',
    'cron(0 12 ? * FRY *)',
    'cron(0/0 12 * * ? *)',
    'cron(30-10 12 * * ? *)',
  ])('%s is refused', (expression) => {
    expect(() => readSchedule(expression)).toThrow();
  });
});

describe('the next time of a cron expression', () => {
  test.each([
    ['0 12 * * ? *', '2026-03-01T11:59:59.999Z', '2026-03-01T12:00:00.000Z'],
    ['0 12 * * ? *', '2026-03-01T12:00:00.000Z', '2026-03-02T12:00:00.000Z'],
    ['0/15 * * * ? *', '2026-03-01T12:46:00.000Z', '2026-03-01T13:00:00.000Z'],
    ['5,35 14 * * ? *', '2026-03-01T14:05:00.000Z', '2026-03-01T14:35:00.000Z'],
    ['0 8 ? * MON-FRI *', '2026-03-06T09:00:00.000Z', '2026-03-09T08:00:00.000Z'],
    ['0 8 ? * 1 *', '2026-03-02T00:00:00.000Z', '2026-03-08T08:00:00.000Z'],
    ['0 0 1 JAN,jul ? *', '2026-03-01T00:00:00.000Z', '2026-07-01T00:00:00.000Z'],
    ['0 0 31 * ? *', '2026-04-01T00:00:00.000Z', '2026-05-31T00:00:00.000Z'],
    ['0 0 29 2 ? *', '2096-03-01T00:00:00.000Z', '2104-02-29T00:00:00.000Z'],
    ['0 0 1 1 ? 2028', '2026-03-01T00:00:00.000Z', '2028-01-01T00:00:00.000Z'],
    ['0 10-16/3 * * ? *', '2026-03-01T11:00:00.000Z', '2026-03-01T13:00:00.000Z'],
  ])('%s after %s', (cron, after, expected) => {
    expect(new Date(nextCronTime(cron, Date.parse(after)) ?? 0).toISOString()).toBe(expected);
  });

  test('is none when all its years have passed', () => {
    expect(nextCronTime('0 0 1 1 ? 2020', Date.parse('2026-01-01T00:00:00Z'))).toBeUndefined();
  });

  test('is the first that fits; none is skipped', () => {
    const minute = fc.integer({ min: 0, max: 59 });
    const hour = fc.integer({ min: 0, max: 23 });
    const after = fc.date({
      min: new Date('2026-01-01'),
      max: new Date('2027-01-01'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(minute, hour, after, (wantedMinute, wantedHour, start) => {
        const next = nextCronTime(`${wantedMinute} ${wantedHour} * * ? *`, start.getTime()) ?? 0;

        const date = new Date(next);
        expect([date.getUTCMinutes(), date.getUTCHours(), next % 60_000]).toEqual([
          wantedMinute,
          wantedHour,
          0,
        ]);
        expect(next - start.getTime()).toBeGreaterThan(0);
        expect(next - start.getTime()).toBeLessThanOrEqual(86_400_000);
      }),
    );
  });
});
