/** What a bug is about. */
export const AREAS = [
  'money',
  'state',
  'deletion',
  'retries',
  'waiting',
  'storing',
  'webhooks',
  'expiry',
  'admission',
  'routes',
  'refusals',
  'openai',
  'budgets',
  'usage',
  'uploads',
  'clips',
  'restore',
  'providers',
] as const;
export type Area = (typeof AREAS)[number];

/** A bug that can be planted. */
export interface Planting {
  /** Names it among all. */
  name: string;
  file: string;
  /** The text of its file with the bug in it. Throws when the text differs from the text that the mutant was made for. */
  plantedIn(source: string): string;
}

/** A bug written by hand: one line or condition of one file, changed. Its name says what the service does wrong with it. */
export interface Mutant extends Planting {
  area: Area;
  /** The text to replace. The text occurs exactly once in the file. A short text seldom changes. */
  before: string;
  after: string;
}

/** The text with `after` in the place of `before`. Throws unless `before` occurs exactly once. */
const plantedText = (source: string, { name, file, before, after }: Omit<Mutant, 'plantedIn'>): string => {
  const [head, tail, ...more] = source.split(before);
  if (head === undefined || tail === undefined) throw new Error(`"${name}": ${file} does not hold its text.`);
  if (more.length > 0) throw new Error(`"${name}": ${file} holds its text ${more.length + 1} times.`);
  return head + after + tail;
};

/** Mutants of one area. */
export const bugs = (
  area: Area,
  mutants: readonly (readonly [name: string, file: string, before: string, after: string])[],
): readonly Mutant[] =>
  mutants.map(([name, file, before, after]) => {
    const mutant = { name, area, file, before, after };
    return { ...mutant, plantedIn: (source) => plantedText(source, mutant) };
  });
