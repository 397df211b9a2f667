import type { QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { Random } from '../engine/random.ts';
import { Scheduler } from '../engine/scheduler.ts';
import { Table } from './table.ts';
import { tornBatch, tornQuery } from './torn-reads.ts';

const QUERY: QueryCommandInput = {
  TableName: 'table',
  ConsistentRead: true,
  KeyConditionExpression: 'PK = :all',
  ExpressionAttributeValues: { ':all': 'all' },
};
const SEEDS = Array.from({ length: 60 }, (_, seed) => seed);

/** A table with two items, both of which change at one instant as a third is added. */
const aTable = (seed: number) => {
  const random = new Random(seed);
  const table = new Table(new Scheduler(0), random);
  const put = (SK: string, version: number) => table.write({ kind: 'Put', Item: { PK: 'all', SK, version } });
  put('A', 1);
  put('C', 1);
  const change = (): void => {
    for (const sort of ['A', 'B', 'C']) put(sort, 2);
  };
  return { table, random, change };
};

/** The answers that a read of this input may have, for many seeds. */
const answersOf = (input: QueryCommandInput, changes = true): Set<string> =>
  new Set(
    SEEDS.map((seed) => {
      const { table, random, change } = aTable(seed);
      const { begin, readOn } = tornQuery(table, random, input);
      const first = begin();
      if (changes) change();
      return (readOn(first).Items ?? []).map(({ SK, version }) => `${SK}${version}`).join(' ');
    }),
  );

describe('a query of the table whose items change while it is answered', () => {
  test('shows what comes first in its order as it was, and the rest as it is', () => {
    expect(answersOf(QUERY)).toEqual(new Set(['A2 B2 C2', 'A1 B2 C2', 'A1 C2', 'A1 C1']));
  });

  test('does so from the end of a list that it reads backwards', () => {
    expect(answersOf({ ...QUERY, ScanIndexForward: false })).toEqual(
      new Set(['C2 B2 A2', 'C1 B2 A2', 'C1 A2', 'C1 A1']),
    );
  });

  test('has no more items than it may', () => {
    expect(answersOf({ ...QUERY, Limit: 2 })).toEqual(new Set(['A2 B2', 'A1 B2', 'A1 C2', 'A1 C1']));
  });

  test('is of one instant when nothing changes', () => {
    expect(answersOf(QUERY, false)).toEqual(new Set(['A1 C1']));
  });
});

test('a batch of items that change while they are read has some as they were and some as they are', () => {
  const keys = ['A', 'B', 'C'].map((SK) => ({ PK: 'all', SK }));
  const answers = SEEDS.map((seed) => {
    const { table, random, change } = aTable(seed);
    const { begin, readOn } = tornBatch(table, random, keys);
    const first = begin();
    change();
    return readOn(first)
      .map(({ SK, version }) => `${SK}${version}`)
      .join(' ');
  });

  expect(new Set(answers).size).toBe(8);
});
