import { expect, test } from '@jest/globals';
import { selectedAfter } from '../../../console/requests/selection-rules.ts';

const SHOWN = ['a', 'b', 'c', 'd', 'e'];
const after = (selected: string[], requestId: string, anchor?: string) =>
  [...selectedAfter(new Set(selected), { requestId, anchor, shown: SHOWN })].toSorted();

test.each([
  [[], 'b', undefined, ['b']],
  [['a'], 'b', undefined, ['a', 'b']],
  [['a', 'b'], 'b', undefined, ['a']],
  [['b'], 'd', 'b', ['b', 'c', 'd']],
  [['d'], 'b', 'd', ['b', 'c', 'd']],
  [['a'], 'e', 'd', ['a', 'd', 'e']],
  [['a'], 'c', 'gone', ['a', 'c']],
])('%j, then a click on %s from %s: %j', (selected, requestId, anchor, expected) => {
  expect(after(selected, requestId, anchor)).toEqual(expected);
});
