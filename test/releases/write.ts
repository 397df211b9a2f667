/**
 * `npm run fixtures -- --release 1.2.3`: writes the fixtures of a release to `test/releases/<version>/`, and removes
 * those of the one before. Takes a checkout of the tag if the tag exists, else this tree, whose version must match.
 * Takes half a minute.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { plainCommand } from '../../ops/plain-command.ts';
import type { Resource } from '../infra/service-template.ts';
import { checkOut, commitOf, ROOT } from './checkout.ts';
import { releaseFolders } from './last-release.ts';
import { recordTree } from './recorded.ts';

const versionOf = (tree: string): string =>
  (JSON.parse(readFileSync(join(tree, 'package.json'), 'utf8')) as { version: string }).version;

/** Runs `use` with a checkout of a commit. */
const withCheckout = async (commit: string, use: (tree: string) => Promise<void>): Promise<void> => {
  const { tree, remove } = checkOut(commit);
  try {
    await use(tree);
  } finally {
    remove();
  }
};

/** Logical ids of the template's resources, by type. */
const logicalIds = async (tree: string): Promise<Record<string, string[]>> => {
  const { synthesize } = (await import(
    pathToFileURL(join(tree, 'test/infra/synthesis.ts')).href
  )) as typeof import('../infra/synthesis.ts');
  const ids: Record<string, string[]> = {};
  const resources = Object.entries(synthesize({}).resources as Record<string, Resource>);
  for (const [id, { Type }] of resources.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    ids[Type] = [...(ids[Type] ?? []), id];
  }
  return ids;
};

/** JSON with one element of a list a line. */
const linesOf = (list: readonly unknown[]): string =>
  `[\n${list.map((element) => JSON.stringify(element)).join(',\n')}\n]`;

const write = async (tree: string, version: string, commit: string): Promise<void> => {
  const { items, table, steps, schemas } = await recordTree(tree);
  const ids = await logicalIds(tree);
  for (const folder of releaseFolders()) rmSync(folder, { recursive: true });
  const folder = join(ROOT, 'test/releases', version);
  mkdirSync(folder);
  const put = (name: string, text: string): void => writeFileSync(join(folder, name), `${text}\n`);
  put('commit', commit);
  put('items.json', linesOf(items));
  put('table.json', `{"at":"${table.at}","apiKey":"${table.apiKey}","items":${linesOf(table.items)}}`);
  put('steps.json', linesOf(steps));
  put('schemas.json', JSON.stringify(schemas, null, 1));
  put('logical-ids.json', JSON.stringify(ids, null, 1));
  for (const file of readdirSync(join(tree, 'statemachines')))
    cpSync(join(tree, 'statemachines', file), join(folder, file));
};

const { release: version } = plainCommand(
  'fixtures',
  'Writes what a release stores and answers, for tests of the next one.',
)
  .requiredOption('--release <version>', 'the version of its tag, or of this tree')
  .parse()
  .opts<{ release: string }>();
const tagged = commitOf(`v${version}`);
const head = commitOf('HEAD');
if (tagged !== undefined) await withCheckout(tagged, (tree) => write(tree, version, tagged));
else if (versionOf(ROOT) === version && head !== undefined) await write(ROOT, version, head);
else throw new Error(`There is no tag v${version}, and this tree has version ${versionOf(ROOT)}.`);
