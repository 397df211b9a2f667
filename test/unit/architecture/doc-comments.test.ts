import { expect, test } from '@jest/globals';
import { readSources } from './source-graph.ts';

const FOLDERS = [
  ...['bin', 'lib', 'functions', 'core', 'providers', 'ops', 'local', 'packages', 'bench', 'test'],
  'console',
];

const DOC_COMMENT = /\/\*\*(?:(?!\*\/).)*\*\//gs;

/**
 * The doc comments of a source that describe nothing: another comment, an import, the end of a block or nothing comes next. A file's
 * first comment describes the file, and may be followed by anything.
 */
const misplaced = (source: string): string[] =>
  [...source.matchAll(DOC_COMMENT)].flatMap(({ 0: text, index }) => {
    if (index === 0) return [];
    const next = source.slice(index + text.length).trimStart();
    return next === '' || /^(\/[*/]|import\b(?!\()|[}\])])/.test(next) ? [text] : [];
  });

test('every doc comment stands before what it describes', () => {
  const sources = [...readSources(...FOLDERS)].filter(([path]) => !path.includes('/build/'));
  const found = sources.flatMap(([path, source]) => misplaced(source).map((text) => `${path}: ${text}`));

  expect(sources.length).toBeGreaterThan(1_500);
  expect(found).toEqual([]);
});

test.each([
  ['/** A file. */\n\n/** One. */\nconst one = 1;', []],
  ['/** A file. */\nimport "a";\nconst one = 1;', []],
  ['interface A {\n  /** One. */\n  one: 1;\n}', []],
  ['import "a";\n/** One. */\n/** Two. */\nconst two = 2;', ['/** One. */']],
  ['const one = 1;\n/** Two. */\n', ['/** Two. */']],
  ['import "a";\n/** One. */\nimport "b";', ['/** One. */']],
  ['interface A {\n  one: 1;\n  /** Two. */\n}', ['/** Two. */']],
])('in %j those that do not are %j', (source, comments) => {
  expect(misplaced(source)).toEqual(comments);
});
