import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { documentedPatterns, type TableFunction, tableFunctionsOf } from './access-patterns.ts';
import { ROOT, readSources } from './source-graph.ts';

const functions = [...readSources('core')]
  .filter(([path]) => !path.startsWith('core/table/'))
  .flatMap(([path, source]) => tableFunctionsOf(path, source));
const rows = documentedPatterns(readFileSync(join(ROOT, 'docs/data-model.md'), 'utf8'));

const byNumber = (patterns: readonly TableFunction[]): TableFunction[] =>
  patterns.toSorted((a, b) => (a.number ?? 0) - (b.number ?? 0));

describe('the access patterns', () => {
  test('are in the doc comment of every function that operates on the table', () => {
    expect(functions.length).toBeGreaterThan(40);
    expect(functions.filter(({ number }) => number === undefined)).toEqual([]);
  });

  test('are numbered from 1 without a gap in docs/data-model.md', () => {
    expect(rows.map(({ number }) => number)).toEqual(rows.map((_, index) => index + 1));
  });

  test('have the same number, function and file in the code and in docs/data-model.md', () => {
    expect(byNumber(functions)).toEqual(rows);
  });

  test('are mentioned only where the table is operated on', () => {
    const mentions = [...readSources('core', 'functions', 'ops', 'providers')].flatMap(([file, source]) =>
      [...source.matchAll(/access pattern (\d+)/gi)].map(([, number]) => ({ file, number: Number(number) })),
    );
    const numbered = functions.map(({ file, number }) => ({ file, number }));

    expect(mentions.filter((mention) => !numbered.some((own) => own.number === mention.number))).toEqual([]);
    expect(mentions).toHaveLength(functions.length);
  });
});

const FILE = 'core/things/things.ts';
const found = (source: string) => tableFunctionsOf(FILE, source).map(({ name, number }) => [name, number]);

describe('a function that operates on the table is found', () => {
  test.each([
    ["import { table } from '../table/table.ts';", 'async () => table.send(1)'],
    ["import { tableName } from '../table/table.ts';", '() => ({ Put: { TableName: tableName() } })'],
    ["import { batchGet } from '../table/batches.ts';", 'async () => batchGet([])'],
    [
      "import { batchGet as read } from '../table/batches.ts';",
      'async () => { for (;;) { if (1) await read([]); } }',
    ],
    ["import { queryAll } from '../table/queries.ts';", 'async function* () { yield* queryAll({}); }'],
    ["import { listedItems } from '../table/listings.ts';", "(id) => listedItems('X', parse)"],
  ])('with %s', (importLine, body) => {
    expect(found(`${importLine}\nexport const getThing = ${body};`)).toEqual([['getThing', undefined]]);
  });

  test('through functions its module keeps to itself', () => {
    const source = `import { table } from '../table/table.ts';
/** Access pattern 7: renames a thing. */
export const renameThing = (id) => update(id);
const update = (id) => write(id);
const write = (id) => table.send(id);`;

    expect(found(source)).toEqual([['renameThing', 7]]);
  });

  test('but not by calling another that has a number', () => {
    const source = `import { table } from '../table/table.ts';
/**
 * Access pattern 7: a thing,
 * if there is one.
 */
export const findThing = (id) => table.send(id);
/** Like \`findThing\`. */
export const getThing = (id) => findThing(id);`;

    expect(found(source)).toEqual([['findThing', 7]]);
  });

  test.each([
    ["import type { StoredItem } from '../table/table.ts';", '(item: StoredItem) => item'],
    ["import { FILTERED_FIRST_LIMIT } from '../table/queries.ts';", '() => FILTERED_FIRST_LIMIT'],
    ["import { thingKey } from '../table/keys.ts';", '(id) => thingKey(id)'],
    ["import { transact } from '../table/transactions.ts';", '() => transact(() => [thingWrite()])'],
  ])('nor with %s', (importLine, body) => {
    expect(found(`${importLine}\nexport const useThing = ${body};`)).toEqual([]);
  });

  test('and a number elsewhere in its comment does not count', () => {
    const source = `import { table } from '../table/table.ts';
/** A thing. Access pattern 7: not here. */
export const findThing = (id) => table.send(id);`;

    expect(found(source)).toEqual([['findThing', undefined]]);
  });
});

test('a row of the document gives number, function and file', () => {
  const markdown = [
    '| # | Question | Operation | Function |',
    '| --- | --- | --- | --- |',
    '| 7 | A thing by `id` | GetItem | [`findThing`](../core/things/things.ts) |',
    '| x | Not a row | GetItem | [`findThing`](../core/things/things.ts) |',
  ].join('\n');

  expect(documentedPatterns(markdown)).toEqual([{ file: FILE, name: 'findThing', number: 7 }]);
});
