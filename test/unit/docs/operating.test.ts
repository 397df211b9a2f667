import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { METRIC } from '../../../core/observability.ts';
import { StackContext } from '../../../lib/context.ts';
import { run } from '../../../ops/program.ts';
import { codeIn, PROJECT_ROOT, readDocument, tableRows } from './documents.ts';

const document = readDocument('docs/operating.md');

/** The default of each context key as the document writes it; undefined where it is described in words. */
const documented = Object.fromEntries(
  tableRows(document, 'context key').map(([key, value = '']) => [
    codeIn(key),
    value.startsWith('`') ? codeIn(value) : undefined,
  ]),
);

/** The source of everything that runs in a function. */
const sources = ['core', 'functions', 'providers']
  .flatMap((folder) =>
    readdirSync(join(PROJECT_ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
      join(folder, name),
    ),
  )
  .filter((path) => path.endsWith('.ts'))
  .map(readDocument);

/** The commands that the command line's help lists, without `help` itself. */
const commandsIn = async (nouns: readonly string[]): Promise<string[]> => {
  let help = '';
  await run([...nouns, '--help'], { out: (text) => (help += text), err: () => undefined });
  const commands = help.slice(help.indexOf('\nCommands:\n')).matchAll(/^ {2}([a-z-]+)(?= )/gm);
  return [...commands].map(([, name = '']) => name).filter((name) => name !== 'help');
};

describe('the operating guide', () => {
  test('has every context key with its default', () => {
    const defaults = Object.entries(StackContext.shape).map(([key, schema]) => {
      const { success, data } = schema.safeParse(undefined);
      return [key, success && data !== undefined ? String(data) : undefined];
    });

    expect(documented).toEqual(Object.fromEntries(defaults));
  });

  test('has every metric', () => {
    expect(Object.values(METRIC).filter((metric) => !document.includes(`\`${metric}\``))).toEqual([]);
  });

  test('queries logs for messages that are logged', () => {
    const messages = [...document.matchAll(/filter message = "([^"]+)"/g)].map(([, message]) => message);

    expect(messages.length).toBeGreaterThan(0);
    for (const message of messages) {
      expect(sources.some((source) => source.includes(`'${message}'`))).toBe(true);
    }
  });

  test('has every noun and verb of the command line', async () => {
    const rows = tableRows(document, 'noun', 'verbs');

    expect(rows.map(([noun]) => codeIn(noun))).toEqual(await commandsIn([]));
    for (const [noun = '', verbs = ''] of rows) {
      const listed = verbs.split(', ').map(codeIn);

      expect(listed).toEqual(await commandsIn([codeIn(noun)]));
    }
  });
});
