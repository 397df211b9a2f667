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
] as const;
export type Area = (typeof AREAS)[number];

/** A bug: one line or condition of one file, changed. */
export interface Mutant {
  /** What the service does wrong with it. */
  name: string;
  area: Area;
  file: string;
  /** The text to replace. It occurs exactly once in the file, and is kept short, so that it seldom moves. */
  before: string;
  after: string;
}

/** Mutants of one area. */
export const bugs = (
  area: Area,
  mutants: readonly (readonly [name: string, file: string, before: string, after: string])[],
): readonly Mutant[] => mutants.map(([name, file, before, after]) => ({ name, area, file, before, after }));
