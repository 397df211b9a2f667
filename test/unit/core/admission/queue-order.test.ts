import { describe, expect, test } from '@jest/globals';
import type { QueueEntry } from '../../../../core/admission/queue-entries.ts';
import { admissionOrder } from '../../../../core/admission/queue-order.ts';

const entry = (requestId: string, changes: Partial<QueueEntry> = {}): QueueEntry => ({
  ...{ requestId, accountId: requestId.slice(0, 1), createdAt: '', taskToken: '', tokenOrder: '' },
  ...{ weight: 1, starts: 1 },
  ...changes,
});
const accounts = (...ids: string[]) =>
  ids.map((accountId, index) => ({ accountId, touched: '', servedAt: `2026-11-20T09:00:0${index}.000Z` }));

describe('the order of admission', () => {
  test('takes the accounts in turn, each with its oldest request', () => {
    const entries = ['a1', 'a2', 'a3', 'b1', 'c1', 'c2'].map((id) => entry(id));

    expect(admissionOrder(entries, accounts('c', 'a', 'b'), new Map())).toEqual([
      ...['c1', 'a1', 'b1'],
      ...['c2', 'a2', 'a3'],
    ]);
  });

  test('takes the account first that has the fewest calls running, counting those that it gets', () => {
    const entries = [entry('a1', { weight: 3 }), entry('a2'), entry('b1'), entry('b2'), entry('b3')];

    expect(admissionOrder(entries, accounts('a', 'b'), new Map([['b', 1]]))).toEqual([
      ...['a1', 'b1', 'b2', 'a2', 'b3'],
    ]);
  });

  test('takes the account first that was served longest ago, of accounts with as many calls running', () => {
    const ids = ['a1', 'a2', 'b1', 'b2'];

    // When `a` has as many calls as `b`, it was served just now.
    expect(
      admissionOrder(
        ids.map((id) => entry(id)),
        accounts('a', 'b'),
        new Map([['b', 1]]),
      ),
    ).toEqual(['a1', 'b1', 'a2', 'b2']);
  });

  test('takes accounts in the same turn, however many requests were admitted before', () => {
    const turns = Array.from({ length: 60 }, (_, index) => [`b${index}`, `a${index}`]).flat();

    expect(
      admissionOrder(
        turns.toSorted().map((id) => entry(id, { createdAt: id })),
        accounts('b', 'a'),
        new Map(),
      ).map((id) => id.slice(0, 1)),
    ).toEqual(turns.map((id) => id.slice(0, 1)));
  });

  test('leaves out who has a permit, and takes an account that cannot be read', () => {
    const entries = [entry('a1', { admittedMs: 1 }), entry('a2'), entry('b1')];

    expect(admissionOrder(entries, accounts('a'), new Map())).toEqual(['b1', 'a2']);
    expect(admissionOrder([], accounts('a'), new Map())).toEqual([]);
  });
});
