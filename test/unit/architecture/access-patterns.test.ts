import { describe, expect, test } from '@jest/globals';
import * as keys from '../../../core/table/keys.ts';
import { codeIn, readDocument, tableRows } from '../docs/documents.ts';
import { documentedPatterns, type TableFunction, tableFunctionsOf } from './access-patterns.ts';
import { readSources } from './source-graph.ts';

const functions = [...readSources('core')]
  .filter(([path]) => !path.startsWith('core/table/'))
  .flatMap(([path, source]) => tableFunctionsOf(path, source));
const document = readDocument('docs/data-model.md');
const rows = documentedPatterns(document);
const entities = tableRows(document, 'Entity', 'Partition key (`PK`)').map(
  ([entity = '']) => /\[([^\]]+)\]/.exec(entity)?.[1],
);

const byName = (patterns: readonly TableFunction[]): TableFunction[] =>
  patterns.toSorted((a, b) => (a.name < b.name ? -1 : 1));

describe('the access patterns', () => {
  test('are in the doc comment of every function that operates on the table', () => {
    expect(functions.length).toBeGreaterThan(40);
    expect(functions.filter(({ number }) => number === undefined)).toEqual([]);
  });

  test('are numbered from 1 without a gap in docs/data-model.md', () => {
    expect(rows.map(({ number }) => number)).toEqual(rows.map((_, index) => index + 1));
  });

  test('are grouped there by entity, in the order of the entities', () => {
    const groups = rows.map(({ entity }) => entity).filter((entity, index, all) => entity !== all[index - 1]);

    expect(groups).toEqual([...entities, 'All'].filter((entity) => groups.includes(String(entity))));
  });

  test('have the same number, functions and files in the code and in docs/data-model.md', () => {
    expect(byName(functions)).toEqual(byName(rows.flatMap((row) => row.functions)));
    expect(rows.filter((row) => row.functions.length === 0)).toEqual([]);
  });

  test('are mentioned only where the table is operated on', () => {
    const mentions = [...readSources('core', 'functions', 'ops', 'providers')].flatMap(([file, source]) =>
      [...source.matchAll(/access pattern (\d+)/gi)].map(([, number]) => `${file} ${number}`),
    );

    expect(mentions.toSorted()).toEqual(functions.map(({ file, number }) => `${file} ${number}`).toSorted());
  });
});

/** The attributes by which items are listed in an index, by the function that sets them. */
const LISTINGS: Record<string, Record<string, string>[]> = {
  accountListing: [keys.accountListing('<account>', '<createdAt>')],
  apiKeyListing: [keys.apiKeyListing('<account>', '<createdAt>', '<key>')],
  endUserListing: [keys.endUserListing('<account>', '<createdAt>')],
  dueListing: Object.keys({ START: 1, CHECK: 1, EXPIRE: 1 } satisfies Record<keys.DueList, 1>).map(
    (list) => ({
      GSI1PK: `${keys.dueListPrefix(list as keys.DueList)}<shard>`,
      GSI1SK: 'when due',
    }),
  ),
  queueListing: [keys.queueListing('<route>')],
  requestListing: [keys.requestListing('<account>', '<email>')],
};
const INDEXES = [keys.LISTING_INDEX, ...Object.values(keys.REQUEST_INDEXES)];

describe('the indexes in docs/data-model.md', () => {
  test('have a row for each partition that items are listed in, with its sort key', () => {
    const listed = Object.values(LISTINGS)
      .flat()
      .flatMap((item) =>
        INDEXES.filter(({ partition }) => partition in item).map((index) => [
          index.name,
          item[index.partition],
          'sort' in index ? item[index.sort] : keys.PRIMARY_KEY.partition,
        ]),
      );
    const documented = tableRows(document, 'Index', 'Partition key').map(([index, partition, sort]) => [
      index,
      codeIn(partition),
      sort === '`PK` of the request' ? keys.PRIMARY_KEY.partition : codeIn(sort),
    ]);

    expect(documented.toSorted()).toEqual(listed.toSorted());
  });

  test('are all indexes, by every function that lists items in one', () => {
    const exported = Object.keys(keys);

    expect(exported.filter((name) => name.endsWith('Listing')).toSorted()).toEqual(
      Object.keys(LISTINGS).toSorted(),
    );
    expect(exported.filter((name) => /_INDEX(ES)?$/.test(name)).toSorted()).toEqual([
      'LISTING_INDEX',
      'REQUEST_INDEXES',
    ]);
  });
});

const FILE = 'core/things/things.ts';
const found = (source: string) => tableFunctionsOf(FILE, source).map(({ name, number }) => [name, number]);

describe('a function that operates on the table is found', () => {
  test.each([
    ["import { table } from '../table/table.ts';", 'async () => table.send(1)'],
    ["import { tableName } from '../table/table.ts';", '() => ({ Put: { TableName: tableName() } })'],
    ["import { batchGet } from '../table/table.ts';", 'async () => batchGet([])'],
    [
      "import { batchGet as read } from '../table/table.ts';",
      'async () => { for (;;) { if (1) await read([]); } }',
    ],
    ["import { queryAll } from '../table/table.ts';", 'async function* () { yield* queryAll({}); }'],
    ["import { listedItems } from '../table/table.ts';", "(id) => listedItems('X', parse)"],
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
    ["import { setAll } from '../table/table.ts';", '() => setAll({})'],
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

test('a row of the document gives number, entity, functions and files', () => {
  const markdown = [
    '| # | Entity | Question | Functions |',
    '| --- | --- | --- | --- |',
    '| 7 | Thing | Things by `id` | [`findThing`, `findThings`](../core/things/things.ts), [`count`](../core/count.ts) |',
    '| x | Thing | Not a row | [`findThing`](../core/things/things.ts) |',
  ].join('\n');

  const functions = [
    { file: FILE, name: 'findThing', number: 7 },
    { file: FILE, name: 'findThings', number: 7 },
    { file: 'core/count.ts', name: 'count', number: 7 },
  ];
  expect(documentedPatterns(markdown)).toEqual([{ number: 7, entity: 'Thing', functions }]);
});
