import { expect, test } from '@jest/globals';
import { withSection } from '../../mutants/page.ts';

const PAGE = '# Page\n\n## One\n\nold\n\n## Two\n\nkept\n';

test('a section is written in the place of the one before, up to the next', () => {
  expect(withSection(PAGE, '## One', 'new')).toBe('# Page\n\n## One\n\nnew\n\n## Two\n\nkept\n');
  expect(withSection(PAGE, '## Two', 'new')).toBe('# Page\n\n## One\n\nold\n\n## Two\n\nnew\n');
});

test('a new section comes last', () => {
  expect(withSection('# Page\n', '## One', 'new')).toBe('# Page\n\n## One\n\nnew\n');
  expect(withSection('', '## One', 'new')).toBe('## One\n\nnew\n');
});
