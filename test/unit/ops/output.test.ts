import { describe, expect, test } from '@jest/globals';
import { formatFields, formatTable } from '../../../ops/output.ts';

describe('formatTable', () => {
  test('aligns text left and numbers right, and leaves no space at the end of a line', () => {
    const table = formatTable(
      ['name', 'amount', 'note'],
      [
        ['a', 5, ''],
        ['longer', -12.5, 'x'],
      ],
    );

    expect(table.split('\n')).toEqual(['NAME    AMOUNT  NOTE', 'a            5', 'longer   -12.5  x']);
  });

  test('shows what is absent as a dash, and no rows as such', () => {
    expect(formatTable(['a', 'b'], [[null, undefined]])).toBe('A  B\n-  -');
    expect(formatTable(['a', 'b'], [])).toBe('A  B\n(none)');
  });

  test('gives wide characters their two columns', () => {
    expect(
      formatTable(
        ['a', 'b'],
        [
          ['工作室', 'x'],
          ['studio', 'y'],
        ],
      ).split('\n'),
    ).toEqual(['A       B', '工作室  x', 'studio  y']);
  });

  test('lets no stored text move the cursor or break a row', () => {
    expect(formatTable(['a'], [['one\n\u001b[2Jtwo']])).toBe('A\none [2Jtwo');
  });
});

describe('formatFields', () => {
  test('puts one field on a line, the values in a column', () => {
    expect(formatFields({ id: 'x', createdAt: null, n: 0 })).toBe('id         x\ncreatedAt  -\nn          0');
  });
});
