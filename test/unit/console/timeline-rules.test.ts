import { describe, expect, test } from '@jest/globals';
import { layOut } from '../../../console/requests/timeline-rules.ts';
import { RETRY_SCHEDULE } from '../builders/webhook-schedule.ts';

const START = Date.parse('2026-11-22T09:00:00.000Z');
const at = (seconds: number): string => new Date(START + seconds * 1000).toISOString();
const span = (from: number, until: number | null) => ({
  from: at(from),
  until: until === null ? null : at(until),
});
const NOW = new Date(START + 100_000);

describe('a time line', () => {
  test('draws what is of one size to scale', () => {
    const { bars, breaks, scaledMilliseconds } = layOut([span(0, 10), span(5, 10), span(10, 20)], NOW);

    expect(bars).toEqual([
      { left: 0, width: 50 },
      { left: 25, width: 25 },
      { left: 50, width: 50 },
    ]);
    expect(breaks).toEqual([]);
    expect(scaledMilliseconds).toBe(20_000);
  });

  test('cuts out the day until the files expire, and draws the ten seconds of work', () => {
    const { bars, breaks, scaledMilliseconds } = layOut([span(0, 4), span(4, 10), span(10, 82_810)], NOW);

    expect(scaledMilliseconds).toBe(10_000);
    expect(breaks).toEqual([{ left: 93, width: 7, milliseconds: 82_800_000 }]);
    expect(bars[0]).toEqual({ left: 0, width: expect.closeTo(37.2) });
    expect(bars[2]).toEqual({ left: expect.closeTo(93), width: expect.closeTo(7) });
  });

  test('gives ten pauses between webhook attempts at most half of the width', () => {
    let time = 10;
    const spans = [span(0, 10)];
    for (const pause of RETRY_SCHEDULE) {
      spans.push(span(time, time + pause));
      time += pause;
    }

    const { bars, breaks } = layOut(spans, NOW);

    expect(breaks).toHaveLength(8);
    expect(breaks.reduce((sum, { width }) => sum + width, 0)).toBeCloseTo(50);
    expect(bars.every(({ left, width }) => left >= 0 && width > 0 && left + width <= 100.001)).toBe(true);
  });

  test('ends what goes on now, and keeps an hour of work beside seconds when nothing is shorter', () => {
    expect(layOut([span(0, null)], NOW)).toEqual({
      bars: [{ left: 0, width: 100 }],
      breaks: [],
      scaledMilliseconds: 100_000,
    });
  });

  test('draws an instant as a bar without width, and nothing of nothing', () => {
    expect(layOut([span(0, 0)], NOW).bars).toEqual([{ left: 0, width: 0 }]);
    expect(layOut([], NOW)).toEqual({ bars: [], breaks: [], scaledMilliseconds: 0 });
  });
});
