import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Recorded } from './recorded.ts';

const FOLDER = fileURLToPath(new URL('./', import.meta.url));

/** The folders of fixtures: that of the last release. */
export const releaseFolders = (): string[] =>
  readdirSync(FOLDER, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(FOLDER, name));

/** What the last release stored and passed on, as `npm run fixtures` recorded it. */
export interface LastRelease extends Recorded {
  version: string;
  /** The commit that was released. */
  commit: string;
  /** Its definitions by state machine, as texts with placeholders. */
  definitions: ReadonlyMap<string, string>;
  /** Logical ids of its template's resources, by type. */
  logicalIds: Record<string, string[]>;
}

/**
 * The last release, by its fixtures; undefined before the first release whose upgrade is promised. Throws when there are fixtures of more
 * than one release.
 */
export const findLastRelease = (): LastRelease | undefined => {
  const [folder, ...others] = releaseFolders();
  if (others.length > 0) throw new Error('test/releases holds one release.');
  if (folder === undefined) return undefined;
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
  const machines = readdirSync(folder).filter((file) => file.endsWith('.asl.json'));
  return {
    version: folder.slice(FOLDER.length),
    commit: read('commit').trim(),
    items: JSON.parse(read('items.json')),
    table: JSON.parse(read('table.json')),
    steps: JSON.parse(read('steps.json')),
    schemas: JSON.parse(read('schemas.json')),
    definitions: new Map(machines.map((file) => [file.replace('.asl.json', ''), read(file)])),
    logicalIds: JSON.parse(read('logical-ids.json')),
  };
};
