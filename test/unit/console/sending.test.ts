import { expect, test } from '@jest/globals';
import { createKeys } from '../../../console/make/sending.ts';

test('A creation whose answer was lost is sent again with its key, another one and one after an answer with a new key', () => {
  let count = 0;
  const keys = createKeys(() => {
    count += 1;
    return `key-${count}`;
  });

  expect([keys.keyFor({ n: 1 }), keys.keyFor({ n: 1 })]).toEqual(['key-1', 'key-1']);
  expect(keys.keyFor({ n: 2 })).toBe('key-2');
  keys.answered();
  expect(keys.keyFor({ n: 2 })).toBe('key-3');
});
