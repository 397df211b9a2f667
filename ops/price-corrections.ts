import type { Account } from '../core/accounts/accounts.ts';
import type { AuditWrite } from '../core/audit/audit.ts';
import { newLedgerEntryId } from '../core/ids.ts';
import { changeBalance, findChangeOfKey } from '../core/ledger/change-balance.ts';
import type { LedgerEntry } from '../core/ledger/ledger.ts';
import { readLedgerEntries } from '../core/ledger/ledger-entries.ts';
import { findFirstEntryFrom } from '../core/ledger/usage.ts';
import type { CatalogModel } from '../core/models/catalog.ts';
import { pricedPixels } from '../core/models/image-sizes.ts';
import type { Rate } from '../core/models/rate-schemas.ts';
import { imagePrice, videoPrice } from '../core/models/rates.ts';
import type { Thousandths } from '../core/money.ts';
import { isTerminal, type StoredRequest } from '../core/requests/request-rules.ts';
import { findRequests } from '../core/requests/requests.ts';
import type { Instant } from '../core/time.ts';

/**
 * The state of a debited request under another price. `to refund`: the other price is lower. `as charged`: the other
 * price is not lower. `refunded`: the difference was given back. `open`: the request is unfinished and may still be
 * refunded in full. `deleted`: the request was deleted, and with it the size that a price needs.
 */
export type CorrectionState = 'to refund' | 'as charged' | 'refunded' | 'open' | 'deleted';

/** A request that was debited in the interval, with what its account paid and would have paid. Thousandths of xTokens. */
export interface Correction {
  accountId: string;
  requestId: string;
  debitedAt: Instant;
  /** The debit without what was refunded at the end of the request. */
  chargedThousandths: Thousandths;
  /** The price of the delivered outputs at the other rate; absent while the request is open, and once it is deleted. */
  wouldCostThousandths?: Thousandths;
  state: CorrectionState;
}

/** The interval of debits, without its last instant. */
export interface Interval {
  from: Instant;
  to: Instant;
}

/** Requests read at once. */
const BATCH = 100;

/**
 * Lists the requests of a model that an account was debited for in an interval, oldest first, with their price at another rate. Reads
 * the account's ledger and the requests, strongly consistent.
 */
export const listCorrections = async function* (
  { accountId, ledgerEntries }: Account,
  model: CatalogModel,
  { from, to }: Interval,
  rate: Rate,
): AsyncGenerator<Correction> {
  const [first, end] = await Promise.all([
    findFirstEntryFrom(accountId, ledgerEntries, from),
    findFirstEntryFrom(accountId, ledgerEntries, to),
  ]);
  let debits: LedgerEntry[] = [];
  for await (const entry of readLedgerEntries(accountId, first, end - 1)) {
    if (entry.reason === 'generation' && entry.model === model.id) debits.push(entry);
    if (debits.length < BATCH) continue;
    yield* await corrected(accountId, debits, rate);
    debits = [];
  }
  yield* await corrected(accountId, debits, rate);
};

const corrected = async (
  accountId: string,
  debits: readonly LedgerEntry[],
  rate: Rate,
): Promise<Correction[]> => {
  const { requests } = await findRequests(debits.map(({ reference }) => reference));
  const byId = new Map(requests.map((request) => [request.requestId, request]));
  return Promise.all(
    debits.map(async (debit): Promise<Correction> => {
      const judged = judgeDebit(debit, byId.get(debit.reference), rate);
      const { reference: requestId, createdAt: debitedAt } = debit;
      const correction = { accountId, requestId, debitedAt, ...judged };
      if (correction.state !== 'to refund') return correction;
      const made = await findChangeOfKey(accountId, correctionKey(requestId));
      if (!made) return correction;
      const wouldCostThousandths = correction.chargedThousandths - made.amountThousandths;
      return { ...correction, wouldCostThousandths, state: 'refunded' };
    }),
  );
};

/** The price of a debit's request at another rate. What was refunded at the end of the request is not charged at either rate. */
export const judgeDebit = (
  { amountThousandths }: Pick<LedgerEntry, 'amountThousandths'>,
  request: StoredRequest | undefined,
  rate: Rate,
): Pick<Correction, 'chargedThousandths' | 'wouldCostThousandths' | 'state'> => {
  if (!request) return { chargedThousandths: amountThousandths, state: 'deleted' };
  const chargedThousandths = amountThousandths - (request.refundThousandths ?? 0);
  if (!isTerminal(request)) return { chargedThousandths, state: 'open' };
  const units = chargedThousandths / request.unitPriceThousandths;
  const wouldCostThousandths = units * unitPrice(rate, request);
  const state = wouldCostThousandths < chargedThousandths ? 'to refund' : 'as charged';
  return { chargedThousandths, wouldCostThousandths, state };
};

/** The price of an image or a second of a request at a rate of its model. Throws `Error` for a rate of another kind. */
const unitPrice = (rate: Rate, request: StoredRequest): Thousandths => {
  if (request.kind === 'image' && 'perImage' in rate) return imagePrice(rate, pricedPixels(request.size));
  if (request.kind === 'video' && 'perSecond' in rate) return videoPrice(rate, request.resolution);
  throw new Error(`The rate is not for a ${request.kind}.`);
};

/** The idempotency key of a correction: one for each request, so that no request is corrected twice. */
const correctionKey = (requestId: string): string => `price of ${requestId}`;

/** What a correction gives back. Thousandths of xTokens. */
export const differenceOf = ({ chargedThousandths, wouldCostThousandths }: Correction): Thousandths =>
  chargedThousandths - (wouldCostThousandths ?? chargedThousandths);

/**
 * Gives back the difference of a correction `to refund`, once, whatever is repeated. `extraWritesOf` makes the writes that record the adjustment,
 * by the id of its ledger entry. Throws as `changeBalance` does.
 */
export const refundCorrection = async (
  correction: Correction,
  extraWritesOf: (entryId: string) => AuditWrite[],
  now: Date,
): Promise<void> => {
  const { accountId, requestId } = correction;
  const entryId = newLedgerEntryId(now);
  await changeBalance(
    accountId,
    {
      amountThousandths: differenceOf(correction),
      reason: 'admin_adjustment',
      reference: correctionKey(requestId),
      idempotencyKey: correctionKey(requestId),
      entryId,
      extraWrites: extraWritesOf(entryId),
    },
    now,
  );
};
