import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { transformSync } from '@swc/core';
import { AREAS, bugs, type Mutant } from '../../mutants/mutant.ts';
import { MUTANTS } from '../../mutants/mutants.ts';
import { ROOT } from '../../mutants/plant.ts';

const sourceOf = ({ file }: Mutant): string => readFileSync(join(ROOT, file), 'utf8');

/** Throws unless the text can be loaded. */
const check = (file: string, text: string): void => {
  if (file.endsWith('.json')) JSON.parse(text);
  else transformSync(text, { jsc: { parser: { syntax: 'typescript' }, target: 'es2024' } });
};

describe('the list of mutants', () => {
  test('has at least 40 with names of their own, and some in every area', () => {
    expect(MUTANTS.length).toBeGreaterThanOrEqual(40);
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
    expect(new Set(MUTANTS.map(({ area }) => area))).toEqual(new Set(AREAS));
  });

  test.each(MUTANTS)('can plant: $name', (mutant) => {
    const source = sourceOf(mutant);
    const text = mutant.plantedIn(source);

    expect(text).not.toBe(source);
    expect(() => check(mutant.file, text)).not.toThrow();
  });

  test('changes one line or condition each', () => {
    const long = MUTANTS.filter(({ before, after }) =>
      [before, after].some((text) => text.trim().split('\n').length > 1),
    );

    expect(long).toEqual([]);
  });
});

describe('a mutant is refused', () => {
  const [mutant] = bugs('money', [['a bug', 'core/x.ts', 'a + b', 'a - b']]);

  test.each([
    ['whose text is gone', 'a * b', 'does not hold its text'],
    ['whose text occurs twice', 'a + b; a + b', 'holds its text 2 times'],
  ])('%s', (_, source, message) => {
    expect(() => mutant?.plantedIn(source)).toThrow(message);
  });
});
