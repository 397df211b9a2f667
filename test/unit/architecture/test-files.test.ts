import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

test('no two test files share a name, so that a name in a report leads to one', () => {
  const files = globSync('{test,packages/*/test}/**/*.test.ts', { cwd: ROOT });
  const named = Map.groupBy(files, (file) => basename(file));

  expect(files.length).toBeGreaterThan(400);
  expect([...named.values()].filter(({ length }) => length > 1)).toEqual([]);
});
