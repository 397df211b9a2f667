import type { Command } from 'commander';
import { type AuditEntry, listAuditEntries } from '../../core/audit/audit.ts';
import type { Instant } from '../../core/time.ts';
import { limit, since } from '../options.ts';
import { formatTable } from '../output.ts';
import { about } from '../subject.ts';
import type { Perform, Verb } from '../verb.ts';

/** Changes that are printed without `--limit`. */
const DEFAULT_LIMIT = 50;

/** `audit list` */
export const addAuditVerbs = (audit: Command, perform: Perform): void => {
  const command = audit.command('list').description('who of the staff changed what, newest first');
  about(command, 'account', 'only of this account', { isRequired: false })
    .option('--since <time>', 'from then on: 2026-11-01, or how long ago: 7d', since)
    .option('--limit <number>', 'at most so many', limit, DEFAULT_LIMIT)
    .action(perform(list));
};

const list: Verb<{ account?: string; since?: Instant; limit: number }> = async (
  { account: accountId, since, limit: most },
  connected,
) => {
  await connected();
  const entries: AuditEntry[] = [];
  for await (const entry of listAuditEntries({ accountId, since })) {
    entries.push(entry);
    if (entries.length > most) break;
  }
  const value = entries
    .slice(0, most)
    .map(({ id: auditId, at, actor, identity = null, action, ...rest }) => ({
      ...{ auditId, at, actor, identity, action },
      accountId: rest.accountId ?? null,
      subject: rest.subject ?? null,
      detail: rest.detail ?? null,
    }));
  const more = entries.length > most ? `\n\nThere are more: --limit ${2 * most}, or --since.` : '';
  return {
    value,
    text: (columns) =>
      formatTable(
        ['time', 'who', 'did', { id: 'account' }, { id: 'to' }, 'detail'],
        value.map(({ at, actor, identity, action, ...row }) => [
          ...[at, identity === null ? actor : `${actor} (${identity})`, action],
          ...[row.accountId, row.subject, row.detail],
        ]),
        columns,
      ) + more,
  };
};
