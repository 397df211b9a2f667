import { describe, expect, test } from '@jest/globals';
import type { StorySpan } from '../../../ops/story-span.ts';
import { timeAxis } from '../../../ops/time-axis.ts';
import { formatSeconds, formatSpan, formatTimeline } from '../../../ops/timeline.ts';
import { atSeconds } from '../builders/clocks.ts';

const at = (second: number): string => atSeconds(second).toISOString();
const span = (kind: StorySpan['kind'], from: number, until: number | null, more = {}): StorySpan => ({
  ...{ kind, label: kind, from: at(from), until: until === null ? null : at(until) },
  ...more,
});
const HOUR = 3600;

describe('the axis of a timeline', () => {
  test('shows work to scale and an idle day as 8 % of it', () => {
    const spans = [span('queued', 0, 25), span('provider-call', 25, 100), span('available', 100, 23 * HOUR)];
    const axis = timeAxis(spans, atSeconds(200));

    expect([0, 25, 100, 23 * HOUR].map((second) => Number((axis(at(second)) * 108).toFixed(6)))).toEqual([
      0, 25, 100, 108,
    ]);
  });

  test('keeps an idle stretch that is shorter than that', () => {
    const axis = timeAxis([span('queued', 0, 100), span('available', 100, 104)], atSeconds(200));

    expect(axis(at(100)) * 104).toBeCloseTo(100);
  });

  test('gives stretches without any work the same length, and copes with one instant', () => {
    const idle = [span('available', 0, 10), span('removal', 10, 5000)];

    expect(timeAxis(idle, atSeconds(0))(at(10))).toBeCloseTo(0.5);
    expect(timeAxis([span('settling', 5, 5)], atSeconds(9))(at(5))).toBe(0);
  });
});

describe('the timeline of a request', () => {
  const spans = [
    span('queued', 0, 1),
    span('provider-call', 1, 9, { label: 'asked', outcome: 'succeeded' }),
    span('available', 9, 23 * HOUR, { label: 'files available' }),
  ];

  test('has a line for each span: when, how long after, how long, what and how it ended', () => {
    expect(formatTimeline(spans, atSeconds(10), 80).split('\n')).toEqual([
      '2026-11-20  AFTER   TAKES  WHAT',
      `09:00:00     0.0s    1.0s  queued            ${'█'.repeat(4)}`,
      `09:00:01     1.0s    8.0s  asked: succeeded  ${' '.repeat(3)}${'█'.repeat(29)}`,
      `09:00:09     9.0s  22h59m  files available   ${' '.repeat(32)}···`,
    ]);
  });

  test('draws what goes on up to now', () => {
    const line = formatTimeline([span('queued', 0, null)], atSeconds(4), 80).split('\n')[1];

    expect(line).toMatch(/^09:00:00 +0\.0s +4\.0s… {2}queued {2}█{30,}$/);
  });

  test.each([40, 60, 80, 200])('fits a terminal of %i columns', (columns) => {
    const long = span('webhook-attempt', 9, 10, { label: 'a label that is longer than a narrow terminal' });

    for (const line of formatTimeline([...spans, long], atSeconds(10), columns).split('\n')) {
      expect(line.length).toBeLessThanOrEqual(columns);
    }
  });

  test('has no bars on a terminal that is too narrow', () => {
    expect(formatTimeline(spans, atSeconds(10), 40)).not.toContain('█');
  });
});

test.each([
  [span('queued', 0, null), `${at(0)} queued…`],
  [span('deadline', 1, 601), `${at(1)} deadline (10m)`],
  [
    span('settling', 1, 3, { outcome: 'failed', detail: 'No.\n\u001b[2J' }),
    `${at(1)} settling (2.0s): failed, No. [2J`,
  ],
])('a span is one line of a log: %j', (one, line) => {
  expect(formatSpan(one)).toBe(line);
});

test.each([
  [0, '0.0s'],
  [9.94, '9.9s'],
  [9.96, '10s'],
  [250, '4m10s'],
  [7_200, '2h'],
  [23 * HOUR + 60, '23h1m'],
  [76 * HOUR, '3d4h'],
])('%s seconds are shown as %s', (seconds, text) => {
  expect(formatSeconds(seconds)).toBe(text);
});
