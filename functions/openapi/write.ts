import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { openApiDocument, openApiText } from './document.ts';
import { typesText } from './typescript.ts';

new Command('openapi')
  .description(
    'Writes what is made from the schemas. Run it when a test says that one of these files is stale.',
  )
  .showSuggestionAfterError(false)
  .parse();

const root = new URL('../../', import.meta.url);
const write = (path: string, text: string): void => writeFileSync(fileURLToPath(new URL(path, root)), text);

write('docs/openapi.json', openApiText());
write('packages/client/src/types.ts', typesText(openApiDocument()));
