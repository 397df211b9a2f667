import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openApiDocument, openApiText } from './document.ts';
import { typesText } from './typescript.ts';

/** `npm run openapi`: writes what is made from the schemas. Run it when a test says that one of these files is stale. */
const root = new URL('../../', import.meta.url);
const write = (path: string, text: string): void => writeFileSync(fileURLToPath(new URL(path, root)), text);

write('docs/openapi.json', openApiText());
write('packages/client/src/types.ts', typesText(openApiDocument()));
