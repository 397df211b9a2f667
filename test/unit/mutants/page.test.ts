import { expect, test } from '@jest/globals';
import { MUTANTS } from '../../mutants/mutants.ts';
import { withSection } from '../../mutants/page.ts';
import { readDocument } from '../docs/documents.ts';

const PAGE = '# Page\n\n## One\n\nold\n\n## Two\n\nkept\n';

test('a section is written in the place of the one before, up to the next', () => {
  expect(withSection(PAGE, '## One', 'new')).toBe('# Page\n\n## One\n\nnew\n\n## Two\n\nkept\n');
  expect(withSection(PAGE, '## Two', 'new')).toBe('# Page\n\n## One\n\nold\n\n## Two\n\nnew\n');
});

test('a new section comes last', () => {
  expect(withSection('# Page\n', '## One', 'new')).toBe('# Page\n\n## One\n\nnew\n');
  expect(withSection('', '## One', 'new')).toBe('## One\n\nnew\n');
});

test('the page about mutants says how many there are, and how many of them its count left out', () => {
  const page = readDocument('docs/mutants.md');
  const numberIn = (pattern: RegExp): number => Number(pattern.exec(page)?.[1]);

  expect(numberIn(/Of (\d+) bugs written by hand/)).toBe(MUTANTS.length);
  expect(numberIn(/by hand (\d+) are newer/)).toBe(MUTANTS.length - numberIn(/^Of (\d+) bugs simulation/m));
});
