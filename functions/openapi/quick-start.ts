import { readFileSync } from 'node:fs';

/** The quick start of `docs/api.md`, which the reference page begins with too. Throws when the document has none. */
export const quickStart = (): string => {
  const document = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');
  const [, section] = /^(## Quick start\n.*?)(?=^## )/ms.exec(document) ?? [];
  if (section === undefined) throw new Error('docs/api.md has no quick start.');
  return section.trim();
};
