import { describe, expect, test } from '@jest/globals';
import { entityOf } from '../../../../core/restore/table-items.ts';
import { readDocument, tableRows } from '../../docs/documents.ts';

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
