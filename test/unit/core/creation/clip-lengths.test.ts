import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { billedSeconds, clipProblems } from '../../../../core/creation/create-video-rules.ts';
import { findVideoModel } from '../../../../core/models/catalog.ts';

const model = findVideoModel('xW3.0s');
if (!model) throw new Error('There is no xW3.0s.');

/** Clips of these lengths in seconds; a string is why one could not be measured. */
const clips = (...measures: (number | string)[]): ({ problem: string } | { durationMs: number })[] =>
  measures.map((one) =>
    typeof one === 'string' ? { problem: one } : { durationMs: Math.round(one * 1000) },
  );
const problems = (durationSec: number, ...measures: (number | string)[]) =>
  clipProblems(durationSec, clips(...measures), model);

const together = (seconds: number, output: number) =>
  `last ${seconds} s together; with the output of ${output} s the model takes up to 30 s`;
const tooLong = (seconds: number) => `lasts ${seconds} s; the model takes up to 15 s`;

describe('measured clips', () => {
  test.each<[string, number, number[]]>([
    ['one of the longest length', 5, [15]],
    ['several that fill what is left beside the output', 5, [12.5, 12.5]],
    ['of fractions that fill it to the millisecond', 5, [8.333, 8.333, 8.334]],
    ['beside the shortest output', 2, [14, 14]],
    ['of no length worth naming', 30, [0]],
  ])('are fine: %s', (_, durationSec, seconds) => {
    expect(problems(durationSec, ...seconds)).toEqual({});
  });

  test.each<[string, number, (number | string)[], Record<string, string>]>([
    ['one that is a millisecond too long', 5, [15.001], { 'referenceVideos[0]': tooLong(15.001) }],
    [
      'each that is too long, and all of them together',
      5,
      [16, 3, 15.5],
      {
        'referenceVideos[0]': tooLong(16),
        'referenceVideos[2]': tooLong(15.5),
        referenceVideos: together(34.5, 5),
      },
    ],
    ['together a millisecond too long', 5, [12.5, 12.501], { referenceVideos: together(25.001, 5) }],
    ['together by the third decimal', 5, [8.334, 8.333, 8.334], { referenceVideos: together(25.001, 5) }],
    ['beside the longest output, however short', 30, [0.001], { referenceVideos: together(0.001, 30) }],
    ['one that cannot be measured', 5, [3, 'is no video'], { 'referenceVideos[1]': 'is no video' }],
    [
      'one that cannot be measured beside one that is too long',
      5,
      ['is no video', 20],
      { 'referenceVideos[0]': 'is no video', 'referenceVideos[1]': tooLong(20) },
    ],
  ])('are wrong: %s', (_, durationSec, measures, fields) => {
    expect(problems(durationSec, ...measures)).toEqual(fields);
  });
});

describe('the seconds that are billed', () => {
  test.each<[number, number[], number]>([
    [5, [], 5],
    [5, [3], 8],
    [5, [0.001], 6],
    // 6.1 s of clips: the sum is rounded, not each clip.
    [5, [2.5, 3.6], 12],
    [5, [2.4, 2.6], 10],
    [5, [2.999, 3.001], 11],
    [5, [0.1, 0.1, 0.1, 0.1, 0.1], 6],
    [2, [14, 14], 30],
  ])(
    'are the output’s %p and those of the clips %j together, rounded up: %p',
    (durationSec, seconds, billed) => {
      expect(billedSeconds(durationSec, clips(...seconds))).toBe(billed);
    },
  );

  test('never exceed the combined limit of the model when the clips are valid', () => {
    const seconds = fc.array(fc.integer({ min: 0, max: 15_000 }), { maxLength: 5 });
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 30 }), seconds, (durationSec, lengths) => {
        const measures = lengths.map((durationMs) => ({ durationMs }));
        const fine = Object.keys(clipProblems(durationSec, measures, model)).length === 0;
        const billed = billedSeconds(durationSec, measures);

        expect(Number.isInteger(billed)).toBe(true);
        expect(billed).toBeGreaterThanOrEqual(durationSec);
        if (fine) expect(billed).toBeLessThanOrEqual(30);
      }),
    );
  });
});
