import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PROJECT_ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** The text of a file of the project, by its path from the root. */
export const readDocument = (path: string): string => readFileSync(join(PROJECT_ROOT, path), 'utf8');

const namesIn = (folder: string): string[] => readdirSync(join(PROJECT_ROOT, folder));

/** Paths of every document that people read, from the root. */
export const DOCUMENTS: readonly string[] = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  ...namesIn('docs').map((name) => `docs/${name}`),
  ...namesIn('packages').map((name) => `packages/${name}/README.md`),
].filter((path) => path.endsWith('.md') && existsSync(join(PROJECT_ROOT, path)));

/** The rows of the first table of a document whose header begins with these cells; cells are trimmed. */
export const tableRows = (document: string, ...header: string[]): string[][] => {
  const lines = document.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${header.join(' | ')} |`));
  if (start === -1) throw new Error(`There is no table with the header ${header.join(', ')}.`);
  const rows = lines.slice(start + 2);
  const end = rows.findIndex((line) => !line.startsWith('|'));
  return rows.slice(0, end === -1 ? undefined : end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
};

/** The paragraphs on alarms in their order, each with the alarm's name: a line that begins with the name in bold code. Alarms may share one. */
export const alarmParagraphs = (document: string): { name: string; text: string }[] =>
  [...document.matchAll(/^\*\*((?:`[\w.-]+`(?:, )?)+)\*\*: (\S.*)$/gm)].flatMap(([, names = '', text = '']) =>
    names.split(', ').map((name) => ({ name: codeIn(name), text })),
  );

/** The text of a cell that is code, without its backticks. */
export const codeIn = (cell = ''): string => /^`([^`]*)`$/.exec(cell)?.[1] ?? cell;
