import type { LedgerEntry } from '../../../../core/ledger/ledger.ts';
import { accountKey, ledgerEntryKey, requestKey } from '../../../../core/table/keys.ts';
import { atSeconds } from '../../builders/clocks.ts';
import { ACCOUNT_ID, aLedgerEntry, anAccount, anImageRequest, putRequest } from '../../builders/entities.ts';
import { aRequestId } from '../../builders/request-ids.ts';
import { memory } from '../../fakes/fresh-table.ts';

/** The debit of each request. */
export const DEBIT = 1_000;
/** The instant so many seconds after the end of a ledger's time. */
const isoOf = (seconds: number) => atSeconds(seconds).toISOString();
/** Long after all entries of a ledger: all times are in seconds before it. */
const END = -10_000;

/** Writes a ledger as the service would, or not quite. Each change is a minute after the one before it. */
export class LedgerWriter {
  seconds = END - 40_000;
  number = 0;
  balance = 0;
  readonly open: string[] = [];
  readonly all: string[] = [];

  entry(reason: LedgerEntry['reason'], amount: number, reference: string): void {
    this.number += 1;
    this.balance += amount;
    const ofEntry = {
      type: amount < 0 ? ('debit' as const) : ('credit' as const),
      amountThousandths: Math.abs(amount),
      balanceAfterThousandths: this.balance,
      createdAt: isoOf(this.seconds),
      ...((reason === 'generation' || reason === 'refund') && { retentionDays: 90 }),
    };
    memory.put(
      ledgerEntryKey(ACCOUNT_ID, this.number),
      aLedgerEntry(this.number, { reason, reference, ...ofEntry }),
    );
    const account = anAccount({ balanceThousandths: this.balance, ledgerEntries: this.number });
    memory.put(accountKey(ACCOUNT_ID), account);
  }

  create(withDebit = true): string {
    this.seconds += 60;
    const requestId = aRequestId(atSeconds(this.seconds));
    const createdAt = isoOf(this.seconds);
    const debit = { debitThousandths: DEBIT, debitEntryNumber: this.number + 1 };
    putRequest(memory, anImageRequest({ requestId, status: 'processing', createdAt, ...debit }));
    if (withDebit) this.entry('generation', -DEBIT, requestId);
    this.open.push(requestId);
    this.all.push(requestId);
    return requestId;
  }

  fail(requestId: string): void {
    this.seconds += 60;
    memory.patch(requestKey(requestId), {
      ...{ status: 'failed', refundThousandths: DEBIT, finishedAt: isoOf(this.seconds) },
      error: { code: 'provider_error', message: 'It broke.' },
      refundEntryNumber: this.number + 1,
    });
    this.entry('refund', DEBIT, requestId);
  }

  succeed(requestId: string): void {
    this.seconds += 60;
    memory.patch(requestKey(requestId), {
      ...{ status: 'succeeded', costThousandths: DEBIT, finishedAt: isoOf(this.seconds) },
    });
  }

  lose(requestId: string): void {
    memory.remove(requestKey(requestId));
    const at = this.open.indexOf(requestId);
    if (at >= 0) this.open.splice(at, 1);
    this.all.splice(this.all.indexOf(requestId), 1);
  }

  topUp(): void {
    this.seconds += 60;
    this.entry('topup', DEBIT, 'invoice');
  }
}
