import { expect, test } from '@jest/globals';
import { cachedFor } from '../../../core/cached.ts';
import { atSeconds } from '../builders/clocks.ts';

test('a value is read again once it is old, counted from the beginning of the read', async () => {
  let value = 'a';
  const get = cachedFor(5, async () => value);

  expect(await get(atSeconds(0))).toBe('a');
  value = 'b';
  expect(await get(atSeconds(4.999))).toBe('a');
  expect(await get(atSeconds(5))).toBe('b');
});

test('a failed read is not cached, and throws even when an older value was read before', async () => {
  let fails = true;
  const get = cachedFor(5, async () => {
    if (fails) throw new Error('unreadable');
    return 'a';
  });

  await expect(get(atSeconds(0))).rejects.toThrow('unreadable');
  fails = false;
  expect(await get(atSeconds(1))).toBe('a');
  fails = true;
  await expect(get(atSeconds(6))).rejects.toThrow('unreadable');
});

test.each([
  [-4.999, 'a'],
  [-5, 'b'],
  [-3_600, 'b'],
])('a value that a clock %p s ahead has read is %s', async (seconds, expected) => {
  let value = 'a';
  const get = cachedFor(5, async () => value);
  await get(atSeconds(0));
  value = 'b';

  expect(await get(atSeconds(seconds))).toBe(expected);
});
