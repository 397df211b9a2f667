import { describe, expect, test } from '@jest/globals';
import { readSort, SORT_KEYS, secondsOf, sortAfter, sorted } from '../../../console/requests/table-rules.ts';
import type { AnyRecord } from '../../../console/state/record-rules.ts';

const NOW = new Date('2026-11-26T12:00:00.000Z');
const at = (second: number) =>
  new Date(Date.parse('2026-11-26T10:00:00.000Z') + second * 1_000).toISOString();
const record = (requestId: string, parts: object): AnyRecord =>
  ({
    requestId,
    model: 'b',
    endUserEmail: 'bob@x.example',
    status: 'processing',
    createdAt: at(0),
    ...parts,
  }) as unknown as AnyRecord;
const RECORDS = [
  record('slow', { status: 'failed', createdAt: at(30), finishedAt: at(90) }),
  record('running', { createdAt: at(20), model: 'c' }),
  record('dear', { status: 'expired', createdAt: at(10), finishedAt: at(12), cost: 9, model: 'a' }),
  record('ada', {
    status: 'expired',
    createdAt: at(0),
    finishedAt: at(1),
    cost: 4,
    endUserEmail: 'ada@x.example',
  }),
];
const order = (text: string) => sorted(RECORDS, readSort(text), NOW).map(({ requestId }) => requestId);

describe('an order in the address', () => {
  test.each([
    ['', ['slow', 'running', 'dear', 'ada']],
    ['nonsense', ['slow', 'running', 'dear', 'ada']],
    ['time', ['ada', 'dear', 'running', 'slow']],
    ['model', ['dear', 'slow', 'ada', 'running']],
    ['user', ['ada', 'slow', 'running', 'dear']],
    ['-status', ['running', 'slow', 'dear', 'ada']],
    ['seconds', ['ada', 'dear', 'slow', 'running']],
    ['-seconds', ['slow', 'dear', 'ada', 'running']],
    ['-cost', ['dear', 'ada', 'slow', 'running']],
  ])('%j gives %j', (text, ids) => {
    expect(order(text)).toEqual(ids);
  });

  test.each(SORT_KEYS)('by %s turns with a second click on the same column', (key) => {
    const first = sortAfter(readSort('model' === key ? 'user' : 'model'), key);
    const second = sortAfter(readSort(first), key);

    expect([first, second].toSorted()).toEqual([`-${key}`, key].toSorted());
    expect(sortAfter(readSort(second), key)).toBe(first);
  });
});

test('An unfinished request has no seconds', () => {
  expect(RECORDS.map(secondsOf)).toEqual([60, undefined, 2, 1]);
});
