import { readFileSync } from 'node:fs';

/** The arguments of `node` in `npm start`. */
export const npmStart = (): string[] => {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  const { scripts } = JSON.parse(text) as { scripts: { start: string } };
  const words = scripts.start.split(' ');
  return words.slice(words.indexOf('node') + 1);
};
