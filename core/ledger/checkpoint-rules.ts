import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import type { LedgerEntry } from './ledger.ts';

/** A place in a ledger at which a checkpoint can be made, and from which a verification can read on. */
export const LedgerMark = z.object({
  /** The last entry before it. */
  entryNumber: z.number(),
  /** The balance after that entry. */
  balanceThousandths: z.number(),
  /** Of all entries up to it, in hexadecimal. */
  digest: z.string(),
  /** The instant of that entry. */
  entryAt: z.string(),
});
export type LedgerMark = z.infer<typeof LedgerMark>;

/** Up to where a ledger was verified: its last entry was, with all that its request will ever have. */
export const LedgerCheckpoint = z.extend(LedgerMark, {
  accountId: z.string(),
  verifiedAt: z.string(),
  /**
   * Since when a problem is known of what was verified. No verification reads on from there until one has read everything again and
   * found no problem. The digest stays, so that a changed entry is found again.
   */
  doubtedAt: z.optional(z.string()),
});
export type LedgerCheckpoint = z.infer<typeof LedgerCheckpoint>;

/** The digest before the first entry. */
export const FIRST_DIGEST = '';

/** The digest of a ledger up to this entry, from the one before it. A change of any entry changes all digests after it. */
export const nextDigest = (digest: string, entry: LedgerEntry): string => {
  const { id, accountId, number, type, reason, amountThousandths, balanceAfterThousandths } = entry;
  const { reference, createdAt, retentionDays } = entry;
  const fields = [id, accountId, number, type, reason, amountThousandths, balanceAfterThousandths];
  return createHash('sha256')
    .update(JSON.stringify([digest, ...fields, reference, createdAt, retentionDays ?? null]))
    .digest('hex');
};

/** Entries between two marks: few enough to read again, and so many that ten million need little memory. */
const ENTRIES_PER_MARK = 100;

/** The marks of a ledger, oldest first, with one more entry: one in a hundred is kept, and always the newest. */
export const addMark = (marks: LedgerMark[], mark: LedgerMark): void => {
  const last = marks.at(-1);
  if (last && last.entryNumber % ENTRIES_PER_MARK !== 0) marks.pop();
  marks.push(mark);
};

/** The newest mark at this entry or before it; undefined when there is none. */
export const markUntil = (marks: readonly LedgerMark[], entryNumber: number): LedgerMark | undefined =>
  marks.findLast((mark) => mark.entryNumber <= entryNumber);
