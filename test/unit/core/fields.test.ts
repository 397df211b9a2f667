import { describe, expect, test } from '@jest/globals';
import { fieldPath } from '../../../core/fields.ts';

describe('the path of a field', () => {
  test.each<[PropertyKey[], string]>([
    [['prompt'], 'prompt'],
    [['references', 2], 'references[2]'],
    [['sequentialOptions', 'maxImages'], 'sequentialOptions.maxImages'],
    [['a', 0, 'b', 1, 2], 'a[0].b[1][2]'],
    [[], ''],
  ])('%j is written %p', (path, text) => {
    expect(fieldPath(path)).toBe(text);
  });
});
