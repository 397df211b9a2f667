import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { CONSOLE_PAGES, OPENAPI_FILE, PUBLIC_PAGES } from '../core/files/pages.ts';
import type { ModelData } from '../core/models/model-data.ts';
import { bundleConsole } from './bundle-console.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const redoc = createRequire(import.meta.url).resolve('redoc/bundles/redoc.standalone.js');

/** The logo of Redoc's makers: the only file that Redoc fetches from another host, and no option turns the logo off. */
const FOREIGN_LOGO = 'https://cdn.redoc.ly/redoc/logo-mini.svg';

/**
 * Redoc's script without the foreign logo. Throws unless the script names the logo exactly once, as another version
 * may not.
 */
const ownRedoc = (): string => {
  const parts = readFileSync(redoc, 'utf8').split(FOREIGN_LOGO);
  if (parts.length !== 2) throw new Error(`${redoc} names its logo ${parts.length - 1} times.`);
  return parts.join('data:,');
};

/** Lists the own models of standard input, then prints the document, whose notes are made from the catalog as they are loaded. */
const PRINT_DOCUMENT = `
  import { text } from 'node:stream/consumers';
  import { setOwnModels } from './core/models/catalog.ts';
  setOwnModels(JSON.parse(await text(process.stdin)));
  const { openApiText } = await import('./functions/openapi/document.ts');
  process.stdout.write(openApiText());`;

/** The OpenAPI document: that of the project; with own models a process makes one anew. */
const openApiText = (ownModels: readonly ModelData[]): Uint8Array => {
  if (ownModels.length === 0) return readFileSync(join(root, 'docs/openapi.json'));
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', PRINT_DOCUMENT];
  return execFileSync(process.execPath, args, { cwd: root, input: JSON.stringify(ownModels) });
};

/** The content of each page. */
const contents = async (ownModels: readonly ModelData[]): Promise<Record<string, string | Uint8Array>> => ({
  [OPENAPI_FILE]: openApiText(ownModels),
  'docs.html': readFileSync(join(root, 'lib/pages/docs.html')),
  'redoc.standalone.js': ownRedoc(),
  'redoc.standalone.js.LICENSE.txt': readFileSync(`${redoc}.LICENSE.txt`),
  ...(await bundleConsole()),
});

/**
 * Writes the public pages and the console into the bundle of the function that publishes them. The OpenAPI document has the operator's own
 * models.
 */
export const bundlePages = async (folder: string, ownModels: readonly ModelData[] = []): Promise<void> => {
  mkdirSync(folder, { recursive: true });
  const made = await contents(ownModels);
  for (const { file, encoding } of [...PUBLIC_PAGES, ...CONSOLE_PAGES]) {
    const content = made[file];
    if (content === undefined) throw new Error(`Nothing says what ${file} is made from.`);
    writeFileSync(join(folder, file), encoding === 'gzip' ? gzipSync(content, { level: 9 }) : content);
  }
};
