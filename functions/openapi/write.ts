import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openApiText } from './document.ts';

/** `npm run openapi`: writes what is made from the schemas. Run it whenever a test says that one of these files is stale. */
const root = new URL('../../', import.meta.url);
writeFileSync(fileURLToPath(new URL('docs/openapi.json', root)), openApiText());
