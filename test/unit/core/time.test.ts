import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseIso8601, secondsSince, toInstant } from '../../../core/time.ts';

describe('an ISO 8601 text', () => {
  test.each([
    ['2026-11-20', '2026-11-20T00:00:00.000Z'],
    ['2026-11-20T09:30Z', '2026-11-20T09:30:00.000Z'],
    ['2026-11-20T09:30:15Z', '2026-11-20T09:30:15.000Z'],
    ['2026-11-20T09:30:15.5Z', '2026-11-20T09:30:15.500Z'],
    ['2026-11-20T09:30:15.123999999Z', '2026-11-20T09:30:15.123Z'],
    ['2026-11-20T09:30+02:00', '2026-11-20T07:30:00.000Z'],
    ['2026-11-20T09:30+0200', '2026-11-20T07:30:00.000Z'],
    ['2026-11-20T23:30:00.25-02:30', '2026-11-21T02:00:00.250Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
  ])('%s is the instant %s', (text, instant) => {
    expect(parseIso8601(text)).toBe(instant);
  });

  test.each([
    '',
    'yesterday',
    '1795165200000',
    '2026',
    '2026-11',
    '2026-1-1',
    '2026-11-20T09:30',
    '2026-11-20T09:30:15',
    '2026-11-20T09Z',
    '2026-11-20T09:30:15. Z',
    '2026-11-20 09:30:15Z',
    '2026-11-20T09:30:15 02:00',
    '2026-11-20T09:30:15+2:00',
    '2026-11-20T09:30:15+24:00',
    '2026-11-20T09:30:15+02:60',
    '2026-11-20Z',
    '2025-02-29',
    '2026-04-31T00:00:00Z',
    '2026-13-01',
    '2026-00-10',
    '2026-11-20T24:00:00Z',
    '2026-11-20T09:60Z',
    '2026-11-20T09:30:60Z',
    '+002026-11-20',
    ' 2026-11-20',
    '2026-11-20\n',
  ])('%j is none', (text) => {
    expect(parseIso8601(text)).toBeUndefined();
  });

  test('of any instant is that instant, in every time zone', () => {
    const date = fc.date({
      min: new Date('0001-01-02'),
      max: new Date('9998-12-30'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(date, fc.integer({ min: -1439, max: 1439 }), fc.boolean(), (instant, offset, colon) => {
        const local = new Date(instant.getTime() + offset * 60_000).toISOString().slice(0, -1);
        const two = (number: number) => String(number).padStart(2, '0');
        const [hours, minutes] = [two(Math.floor(Math.abs(offset) / 60)), two(Math.abs(offset) % 60)];
        const zone = `${offset < 0 ? '-' : '+'}${hours}${colon ? ':' : ''}${minutes}`;

        expect(parseIso8601(local + zone)).toBe(instant.toISOString());
      }),
    );
  });
});

test('an invalid date is no instant', () => {
  expect(() => toInstant(new Date(Number.NaN))).toThrow(RangeError);
});

test.each([
  ['2026-11-20T09:00:00.000Z', 60],
  ['2026-11-20T09:02:00.000Z', 0],
  ['soon', 0],
  [undefined, 0],
])('Since %p it has been %p s', (instant, seconds) => {
  expect(secondsSince(instant, new Date('2026-11-20T09:01:00.000Z'))).toBe(seconds);
});
