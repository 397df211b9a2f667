import { readFileSync } from 'node:fs';

/** What `npm start` runs: variables of its environment, and arguments of `node`. */
export const npmStart = (): { environment: Record<string, string>; args: string[] } => {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  const { scripts } = JSON.parse(text) as { scripts: { start: string } };
  const words = scripts.start.split(' ');
  const node = words.indexOf('node');
  return {
    environment: Object.fromEntries(words.slice(0, node).map((word) => word.split('=') as [string, string])),
    args: words.slice(node + 1),
  };
};
