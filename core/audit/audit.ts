import { PutCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { auditIdsFrom, newAuditId } from '../ids.ts';
import { readableItems } from '../observability.ts';
import { AUDIT_PARTITION, auditKey, auditSort, type ItemKey } from '../table/keys.ts';
import { putWrite, queryAll, rangeQuery, table } from '../table/table.ts';
import { type Instant, toInstant } from '../time.ts';

/** A change by staff, as stored for ever. It holds no end-user's address: those are removed, and this stays. */
export const AuditEntry = z.object({
  id: z.string(),
  at: z.string(),
  /** The name that was given for them, or else their identity. */
  actor: z.string(),
  /** The identity of their credentials, beside a given name. */
  identity: z.optional(z.string()),
  /** The name of the command: `accounts block`. */
  action: z.string(),
  accountId: z.optional(z.string()),
  /** The id of the changed thing, other than the account. */
  subject: z.optional(z.string()),
  /** The change in words. */
  detail: z.optional(z.string()),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

/** A member of staff. */
export type Actor = Pick<AuditEntry, 'actor' | 'identity'>;
/** A change that a member of staff makes. */
export type StaffChange = Omit<AuditEntry, 'id' | 'at'>;

/** Access pattern 42: records a change by staff, in the transaction that makes it. */
export const auditWrite = (change: StaffChange, now: Date) => {
  const id = newAuditId(now);
  return putWrite({ ...auditKey(id), id, at: toInstant(now), ...change } satisfies AuditEntry & ItemKey);
};
/** The part of a transaction that records a change. */
export type AuditWrite = ReturnType<typeof auditWrite>;

/** Access pattern 42: records a change by staff that is no write of the table. */
export const putAuditEntry = async (change: StaffChange, now: Date): Promise<void> => {
  await table.send(new PutCommand(auditWrite(change, now).Put));
};

/** Access pattern 43: changes by staff, newest first, strongly consistent, read as they are consumed. Leaves out those that cannot be read. */
export const listAuditEntries = async function* ({
  accountId,
  since,
}: {
  accountId?: string | undefined;
  since?: Instant | undefined;
}): AsyncGenerator<AuditEntry> {
  const [first, last] = [auditSort(since && auditIdsFrom(since)), auditSort('~')];
  const query = { ...rangeQuery(AUDIT_PARTITION, first, last), ScanIndexForward: false };
  for await (const item of queryAll(query)) {
    if (accountId !== undefined && item.accountId !== accountId) continue;
    yield* readableItems([item], (one) => AuditEntry.parse(one));
  }
};
