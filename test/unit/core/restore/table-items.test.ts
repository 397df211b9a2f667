import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { entityOf, scanTable } from '../../../../core/restore/table-items.ts';
import { readDocument, tableRows } from '../../docs/documents.ts';
import { memory } from '../../fakes/fresh-table.ts';

const rows = tableRows(readDocument('docs/data-model.md'), 'Entity', 'Partition key (`PK`)');

/** The first code of a cell: some entities have keys of two forms. */
const codeIn = (cell: string): string => /`([^`]+)`/.exec(cell)?.[1] ?? '';

describe('the entity of an item', () => {
  test.each(rows.map(([entity = '', PK = '', SK = '']) => [entity, codeIn(PK), codeIn(SK)]))(
    'is known for: %s',
    (_entity, PK, SK) => {
      expect(entityOf({ PK, SK })).toMatch(/^[a-zA-Z]+$/);
    },
  );

  test('differs from row to row', () => {
    const entities = rows.map(([, PK = '', SK = '']) => entityOf({ PK: codeIn(PK), SK: codeIn(SK) }));

    expect(new Set(entities).size).toBe(rows.length);
  });

  test('is shown by how its key begins where it is not known', () => {
    expect(entityOf({ PK: 'NEW#1', SK: 'THING#2' })).toBe('NEW THING');
  });
});

test('Every item of a table is read page by page, strongly consistent', async () => {
  const [first, second] = [
    { PK: 'A', SK: '1' },
    { PK: 'B', SK: '2' },
  ];
  memory.client
    .on(ScanCommand)
    .callsFake(({ ExclusiveStartKey }) =>
      ExclusiveStartKey ? { Items: [second] } : { Items: [first], LastEvaluatedKey: first },
    );
  const pages: unknown[] = [];
  for await (const page of scanTable('restored')) pages.push(page);

  expect(pages).toEqual([[first], [second]]);
  const inputs = memory.client.commandCalls(ScanCommand).map(({ args }) => args[0].input);
  expect(inputs).toMatchObject(Array(2).fill({ TableName: 'restored', ConsistentRead: true }));
});
