import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';
import type { ModelData } from '../core/models/model-data.ts';

const CATALOG_FILE = fileURLToPath(new URL('../core/models/catalog.json', import.meta.url));

/** Puts the operator's own models at the end of the catalog's data file in a bundle. */
export const bundledCatalog = (own: readonly ModelData[]): Plugin => ({
  name: 'bundled-catalog',
  setup: (build) => {
    build.onLoad({ filter: /[/\\]core[/\\]models[/\\]catalog\.json$/ }, () => ({
      contents: JSON.stringify([...JSON.parse(readFileSync(CATALOG_FILE, 'utf8')), ...own]),
      loader: 'json',
    }));
  },
});
