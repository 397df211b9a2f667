import fc from 'fast-check';
import type { LedgerEntry } from '../../../core/ledger/ledger.ts';
import type { LedgerReason } from '../../../core/ledger/ledger-reasons.ts';
import type { AccountedRequest, RequestFate } from '../../../core/ledger/ledger-rules.ts';
import { atSeconds } from './clocks.ts';
import { ACCOUNT_ID } from './entities.ts';

/** A change of a balance: an entry without its number and its balance. */
export interface Change {
  reason: LedgerReason;
  /** Negative for a debit. */
  amount: number;
  reference: string;
}

/** One account's balance, ledger and requests. */
export interface LedgerHistory {
  account: { accountId: string; balanceThousandths: number; ledgerEntries: number };
  entries: LedgerEntry[];
  fates: Map<string, RequestFate>;
}

/** Of every debit for a generation. */
export const RETENTION_DAYS = 90;

/** A valid chain of entries for these changes, one a second. */
export const chained = (changes: readonly Change[]): LedgerEntry[] => {
  let balance = 0;
  return changes.map(({ reason, amount, reference }, index) => {
    balance += amount;
    return {
      id: `led_${index + 1}`,
      accountId: ACCOUNT_ID,
      number: index + 1,
      type: amount < 0 ? 'debit' : 'credit',
      reason,
      amountThousandths: Math.abs(amount),
      balanceAfterThousandths: balance,
      reference,
      createdAt: atSeconds(index).toISOString(),
      ...(reason === 'generation' && { retentionDays: RETENTION_DAYS }),
    };
  });
};

/** The changes behind these entries. */
export const changesOf = (entries: readonly LedgerEntry[]): Change[] =>
  entries.map(({ reason, type, amountThousandths, reference }) => ({
    reason,
    amount: type === 'debit' ? -amountThousandths : amountThousandths,
    reference,
  }));

/** The account after these entries. */
export const accountAfter = (entries: readonly LedgerEntry[]): LedgerHistory['account'] => ({
  accountId: ACCOUNT_ID,
  balanceThousandths: entries.at(-1)?.balanceAfterThousandths ?? 0,
  ledgerEntries: entries.length,
});

const STEPS = ['topup', 'adjust', 'create', 'succeed', 'fail', 'delete', 'sweep'] as const;

/** One step of a history; `pick` chooses its request, `share` is the delivered part. */
type Step = [step: (typeof STEPS)[number], amount: number, pick: number, share: number];

/** The history of one account after these steps, by the rules of the service. */
const historyAfter = (steps: readonly Step[]): LedgerHistory => {
  const changes: Change[] = [];
  const fates = new Map<string, RequestFate>();
  for (const [step, amount, pick, share] of steps) {
    const kept = [...fates.values()].flatMap((fate) => (fate.state === 'kept' ? [fate.request] : []));
    const open = kept.filter(({ status }) => status === 'queued' || status === 'processing');
    const ended = kept.filter((request) => !open.includes(request));
    if (step === 'topup') changes.push({ reason: 'topup', amount, reference: 'invoice' });
    if (step === 'adjust') changes.push({ reason: 'admin_adjustment', amount: -amount, reference: '' });
    if (step === 'create') {
      const requestId = `img_${fates.size}`;
      const status = pick % 2 === 0 ? 'queued' : 'processing';
      const request: AccountedRequest = {
        requestId,
        accountId: ACCOUNT_ID,
        status,
        debitThousandths: amount,
      };
      fates.set(requestId, { state: 'kept', request });
      changes.push({ reason: 'generation', amount: -amount, reference: requestId });
    }
    if (step === 'succeed' || step === 'fail') {
      const request = open[pick % open.length];
      if (!request) continue;
      const { debitThousandths: debit } = request;
      // A succeeded request always costs something.
      const cost = step === 'fail' ? 0 : Math.max(1, Math.round(debit * share));
      request.status = step === 'fail' ? 'failed' : 'succeeded';
      request.refundThousandths = debit - cost;
      if (step === 'succeed') request.costThousandths = cost;
      if (debit > cost)
        changes.push({ reason: 'refund', amount: debit - cost, reference: request.requestId });
    }
    if (step === 'delete' || step === 'sweep') {
      const request = ended[pick % ended.length];
      if (request) fates.set(request.requestId, { state: step === 'delete' ? 'deleted' : 'absent' });
    }
  }
  const entries = chained(changes);
  return { account: accountAfter(entries), entries, fates };
};

const aStep = (...steps: (typeof STEPS)[number][]): fc.Arbitrary<Step> =>
  fc.tuple(
    fc.constantFrom(...steps),
    fc.integer({ min: 1, max: 50_000 }),
    fc.nat(),
    fc.constantFrom(0, 0.25, 0.5, 1),
  );

/** A valid history; with `swept`, TTL may have removed some of its requests. */
export const aHistory = ({ swept = false } = {}): fc.Arbitrary<LedgerHistory> => {
  const steps = STEPS.filter((step) => swept || step !== 'sweep');
  return fc.array(aStep(...steps), { minLength: 1, maxLength: 60 }).map(historyAfter);
};
