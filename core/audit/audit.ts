import { PutCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { auditIdsFrom, newAuditId } from '../ids.ts';
import { readableItems } from '../observability.ts';
import { AUDIT_PARTITION, auditKey, auditSort } from '../table/keys.ts';
import { queryAll, table, tableName } from '../table/table.ts';
import type { TransactItem } from '../table/transactions.ts';
import { type Instant, toInstant } from '../time.ts';

/** A member of staff. */
export interface Actor {
  /** The name that was given for them, or else their identity. */
  actor: string;
  /** The identity of their credentials, beside a given name. */
  identity?: string | undefined;
}

/** A change that a member of staff makes. It holds no end-user's address: those are removed, and this stays. */
export interface StaffChange extends Actor {
  /** As the command is called: `accounts block`. */
  action: string;
  accountId?: string | undefined;
  /** The id of the changed thing, other than the account. */
  subject?: string | undefined;
  /** What was set, in words. */
  detail?: string | undefined;
}

/** A change by staff, as stored for ever. */
export const AuditEntry = z.object({
  id: z.string(),
  at: z.string(),
  actor: z.string(),
  identity: z.optional(z.string()),
  action: z.string(),
  accountId: z.optional(z.string()),
  subject: z.optional(z.string()),
  detail: z.optional(z.string()),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

const auditPut = (change: StaffChange, now: Date) => {
  const id = newAuditId(now);
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  const entry = AuditEntry.parse({ id, at: toInstant(now), ...Object.fromEntries(given) });
  return { TableName: tableName(), Item: { ...auditKey(id), ...entry } };
};

/** The part of a transaction that records a change. */
export type AuditWrite = TransactItem;

/** Access pattern 42: records a change by staff, in the transaction that makes it. */
export const auditWrite = (change: StaffChange, now: Date): AuditWrite => ({ Put: auditPut(change, now) });

/** Access pattern 42: records a change by staff that is no write of the table. */
export const putAuditEntry = async (change: StaffChange, now: Date): Promise<void> => {
  await table.send(new PutCommand(auditPut(change, now)));
};

/** Limits a list of changes; absent fields do not limit it. */
export interface AuditFilter {
  accountId?: string | undefined;
  since?: Instant | undefined;
}

/** Access pattern 43: changes by staff, newest first, strongly consistent, read as they are consumed. Leaves out those that cannot be read. */
export const listAuditEntries = async function* ({
  accountId,
  since,
}: AuditFilter): AsyncGenerator<AuditEntry> {
  const query = {
    TableName: tableName(),
    KeyConditionExpression: 'PK = :audit AND SK >= :since',
    ...(accountId !== undefined && { FilterExpression: 'accountId = :account' }),
    ExpressionAttributeValues: {
      ':audit': AUDIT_PARTITION,
      ':since': auditSort(since && auditIdsFrom(since)),
      ...(accountId !== undefined && { ':account': accountId }),
    },
    ScanIndexForward: false,
    ConsistentRead: true,
  };
  for await (const item of queryAll(query)) yield* readableItems([item], (one) => AuditEntry.parse(one));
};
