import { expect, test } from '@jest/globals';
import { missedIn, reportOf } from '../../../bench/report.ts';
import { resultOf } from '../../../bench/results.ts';

test('a report puts scenes with a common measure side by side, and other figures below, all with a budget, and names the missed ones', () => {
  const results = [
    resultOf('video: total', 0.2, '$', { budget: 0.3 }),
    resultOf('video: reads of a request', 12, 'reads', { budget: 12 }),
    resultOf('video: logs', 0.003, '$'),
    resultOf('image: total', 0.4, '$', { budget: 0.3 }),
    resultOf('image: logs', 0.002, '$'),
    resultOf('local run: reads', 381, '/s', { budget: 300, atLeast: true }),
    resultOf('signature', 1_234.5, 'µs'),
  ];

  expect(reportOf({ title: 'Costs', note: 'A note.', results }).split('\n')).toEqual([
    ...['### Costs', '', 'A note.', ''],
    ...['| measure | video | image |', '| --- | ---: | ---: |'],
    ...['| total, $ | 0.2 / 0.3 | **0.4 / 0.3** |', '| reads of a request | 12 / 12 |  |', ''],
    ...['| measure | now |', '| --- | ---: |'],
    '| local run: reads, /s | 381 / 300 |',
  ]);
  expect(missedIn(results)).toEqual(['image: total: 0.4 $, budget 0.3']);
});
