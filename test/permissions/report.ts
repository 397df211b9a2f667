/**
 * Prints the granted permissions that no local run used, with the reasons of `kept.ts`: `npm run report:permissions --
 * <folder>`, after `PERMISSION_USE_DIR=<folder> npm run test:contract`. Exits with 1 when one has no reason or the folder holds
 * no run.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatTable } from '../../ops/output.ts';
import { plainCommand } from '../../ops/plain-command.ts';
import { reasonFor } from './kept.ts';
import { type PermissionUse, unusedPermissions } from './unused.ts';

const [folder = ''] = plainCommand(
  'report:permissions',
  'Prints the granted permissions that no local run used.',
)
  .argument('<folder>', 'the folder that PERMISSION_USE_DIR named')
  .parse().args;
const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
const runs = files.map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as PermissionUse[]);
if (runs.length === 0) {
  console.error(`${folder} holds no run: start one with PERMISSION_USE_DIR=${folder}.`);
  process.exit(1);
}
const unused = unusedPermissions(runs);
const rows = unused.map((one) => [...one, reasonFor(one) ?? 'NO REASON: take it away, or test it']);
console.log(formatTable(['role of', 'action', 'on', 'kept because'], rows));
const unexplained = unused.filter((one) => reasonFor(one) === undefined);
console.log(
  `\n${unused.length} permissions were used by none of ${runs.length} runs, ${unexplained.length} of them without a reason.`,
);
if (unexplained.length > 0) process.exitCode = 1;
