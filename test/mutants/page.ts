import { existsSync, readFileSync } from 'node:fs';

/** The sections of the page about mutants. */
export const WRITTEN_HEADING = '## Bugs written by hand';
export const DRAWN_HEADING = '## Bugs drawn at random';

/** The text of a page with another text under one of its headings, up to the next. A heading that is not there comes last. */
export const withSection = (page: string, heading: string, text: string): string => {
  const section = `${heading}\n\n${text.trim()}\n`;
  const start = page.indexOf(`${heading}\n`);
  if (start < 0) return `${page.trimEnd()}\n\n${section}`.trimStart();
  const next = page.indexOf('\n## ', start);
  return page.slice(0, start) + section + (next < 0 ? '' : page.slice(next));
};

/** The page in a file with another text under one of its headings; a page of that section alone without the file. */
export const pageWith = (file: string, heading: string, text: string): string =>
  withSection(existsSync(file) ? readFileSync(file, 'utf8') : '', heading, text);
