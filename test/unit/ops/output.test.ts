import { describe, expect, test } from '@jest/globals';
import { formatFields, formatTable } from '../../../ops/output.ts';

describe('formatTable', () => {
  test('aligns text left and numbers right, without trailing spaces', () => {
    const table = formatTable(
      ['name', 'amount', 'note'],
      [
        ['a', 5, ''],
        ['longer', -12.5, 'x'],
      ],
    );

    expect(table.split('\n')).toEqual(['NAME    AMOUNT  NOTE', 'a            5', 'longer   -12.5  x']);
  });

  test('shows a missing value as a dash, and no rows as (none)', () => {
    expect(formatTable(['a', 'b'], [[null, undefined]])).toBe('A  B\n-  -');
    expect(formatTable(['a', 'b'], [])).toBe('A  B\n(none)');
  });

  test('counts two columns for wide characters', () => {
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

  test('keeps control characters from moving the cursor or breaking a row', () => {
    expect(formatTable(['a'], [['one\n\u001b[2Jtwo']])).toBe('A\none [2Jtwo');
  });
});

describe('formatFields', () => {
  test('prints one field per line, with aligned values', () => {
    expect(formatFields({ id: 'x', createdAt: null, n: 0 })).toBe('id         x\ncreatedAt  -\nn          0');
  });
});
