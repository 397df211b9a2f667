import { describe, expect, test } from '@jest/globals';
import { itemBytes, readUnits, writeUnits } from '../../../bench/costs/table-units.ts';

const item = { PK: 'A', SK: 'B' };
const listed = { ...item, GSI1PK: 'LIST', GSI1SK: '1' };
const request = { ...item, GSI2PK: 'a', GSI3PK: 'a#e', status: 'queued' };
const moved = { ...request, GSI3PK: 'a#f' };

describe('the write units of an item', () => {
  test.each([
    ['put', undefined, item, false, 1],
    ['put in a transaction', undefined, item, true, 2],
    ['of more than 1 KB', undefined, { ...item, text: 'a'.repeat(1_024) }, false, 2],
    ['made smaller', { ...item, text: 'a'.repeat(2_048) }, item, false, 3],
    ['removed', item, undefined, false, 1],
    ['listed', undefined, listed, false, 2],
    ['moved in a list', listed, { ...listed, GSI1SK: '2' }, false, 3],
    ['taken off a list', listed, item, false, 2],
    ['changed where no list shows it', listed, { ...listed, name: 'x' }, false, 1],
    ['changed where a list shows it', listed, { ...listed, blockedAt: 'x' }, false, 2],
    ['with a place in two lists', undefined, request, true, 4],
    ['whose key in one of them changes', request, moved, true, 4],
    ['whose status changes, which no list shows', request, { ...request, status: 'processing' }, false, 1],
    ['whose expiry is set, which both show', request, { ...request, expiresAt: 'x' }, true, 4],
  ])('%s', (_, before, after, isTransaction, units) => {
    expect(writeUnits(before, after, isTransaction)).toBe(units);
  });
});

test('a read unit is for each started 4 KB, and half of one when the read may be behind', () => {
  expect([0, 1, 4_096, 4_097].map((bytes) => readUnits(bytes, true))).toEqual([1, 1, 1, 2]);
  expect(readUnits(4_097, false)).toBe(1);
});

test('an item is as large as the names and values of its attributes', () => {
  expect(itemBytes({ text: 'ü', number: 1_234, yes: true, list: ['a'], map: { b: 'c' } })).toBe(
    4 + 2 + (6 + 3) + (3 + 1) + (4 + 3 + 2) + (3 + 3 + 3),
  );
});
