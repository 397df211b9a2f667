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

  test.each([
    ['move the cursor or break a row', 'one\n\u001b[2Jtwo', 'one [2Jtwo'],
    ['turn the direction of the row', 'user\u202etxt.exe', 'user txt.exe'],
  ])('keeps characters that would %s from the terminal', (_, given, shown) => {
    expect(formatTable(['a'], [[given]])).toBe(`A\n${shown}`);
  });
});

describe('formatFields', () => {
  test('prints one field per line, with aligned values', () => {
    expect(formatFields({ id: 'x', createdAt: null, n: 0 })).toBe('id         x\ncreatedAt  -\nn          0');
  });
});

describe('a table on a terminal', () => {
  const widest = (text: string): number => Math.max(...text.split('\n').map(({ length }) => length));
  const ID = 'acc_01JD4KXQ8M0000000000000000';
  const AT = '2026-11-20T09:00:00.000Z';

  test('that fits is as it is without a terminal', () => {
    const rows = [['a', 'one two three']];

    expect(formatTable(['x', 'detail'], rows, 20)).toBe(formatTable(['x', 'detail'], rows));
  });

  test('wraps its texts between words, and longer words within', () => {
    const table = formatTable(['n', 'detail'], [[1, 'the quick brown fox jumpsoverthelazydogand runs']], 20);

    expect(table.split('\n')).toEqual([
      'N  DETAIL',
      '1  the quick brown',
      '   fox',
      '   jumpsoverthelazyd',
      '   ogand runs',
    ]);
  });

  test('then shortens its times, and sets its ids on a line of their own, whole', () => {
    const head = ['created', { id: 'account' }, 'status'] as const;
    const table = formatTable(head, [[AT, ID, 'queued']], 33);

    expect(table.split('\n')).toEqual([
      'CREATED         STATUS',
      '  ACCOUNT',
      '11-20 09:00:00  queued',
      `  ${ID}`,
    ]);
  });

  test.each([35, 60, 80, 100, 120])('never cuts an id in %i columns', (columns) => {
    const head = ['created', { id: 'request' }, { id: 'account' }, 'status'] as const;

    expect(formatTable(head, [[AT, `r${ID}`, ID, 'failed, provider_error']], columns)).toContain(ID);
  });

  test('shows numbers with separators between their thousands', () => {
    expect(formatTable(['n'], [[1234567.125]])).toBe('            N\n1,234,567.125');
    expect(formatFields({ n: -1000 })).toBe('n  -1,000');
  });

  test('becomes a block of fields for each row when nothing else helps', () => {
    const table = formatTable(
      ['key', 'account'],
      [
        [ID, ID],
        [ID, null],
      ],
      50,
    );

    expect(table).toBe(`key      ${ID}\naccount  ${ID}\n\nkey      ${ID}\naccount  -`);
  });

  test.each([60, 80, 100, 120])('never exceeds its %i columns', (columns) => {
    const rows = [
      [AT, ID, 'queued', 'an error message of some length that says what happened, and why', 12.5],
    ];
    const head = ['created', { id: 'account' }, 'status', 'detail', 'xTokens'] as const;

    expect(widest(formatTable(head, rows, columns))).toBeLessThanOrEqual(columns);
  });
});

test('a field that is wider than the terminal goes on below its value; ids stay whole', () => {
  const fields = { reason: 'The operator ended this request.', key: 'gsk_0123456789012345678901234567890' };

  expect(formatFields(fields, 30)).toBe(
    'reason  The operator ended\n        this request.\nkey     gsk_0123456789012345678901234567890',
  );
});
