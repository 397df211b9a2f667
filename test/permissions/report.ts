/**
 * Prints the granted permissions that no local run used: `npm run report:permissions -- <folder>`, after
 * `PERMISSION_USE_DIR=<folder> npm run test:contract`. Exits with 1 when the folder holds no run, with 2
 * when none is given.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatTable } from '../../ops/output.ts';
import { type PermissionUse, unusedPermissions } from './unused.ts';

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('Give the folder that PERMISSION_USE_DIR named.');
  process.exit(2);
}
const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
const runs = files.map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as PermissionUse[]);
if (runs.length === 0) {
  console.error(`${folder} holds no run: start one with PERMISSION_USE_DIR=${folder}.`);
  process.exit(1);
}
const unused = unusedPermissions(runs);
console.log(formatTable(['role of', 'action', 'on'], unused));
console.log(`\n${unused.length} permissions were used by none of ${runs.length} runs.`);
