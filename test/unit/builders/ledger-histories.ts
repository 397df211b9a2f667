import fc from 'fast-check';
import type { LedgerEntry } from '../../../core/ledger/ledger.ts';
import type { LedgerReason } from '../../../core/ledger/ledger-reasons.ts';
import { type AccountedRequest, isTerminal } from '../../../core/requests/request-rules.ts';
import { atSeconds } from './clocks.ts';
import { ACCOUNT_ID } from './entities.ts';

/** A change of a balance: an entry without its number and its balance. */
export interface Change {
  reason: LedgerReason;
  /** Negative for a debit. */
  amount: number;
  reference: string;
}

/** Whether a request is kept, deleted with a mark of its amounts, or absent. */
export type RequestFate = { state: 'kept' | 'deleted'; request: AccountedRequest } | { state: 'absent' };

/** One account's balance, ledger and requests. */
export interface LedgerHistory {
  account: { accountId: string; balanceThousandths: number; ledgerEntries: number };
  entries: LedgerEntry[];
  fates: Map<string, RequestFate>;
}

/** Of every debit and refund. */
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
      ...((reason === 'generation' || reason === 'refund') && { retentionDays: RETENTION_DAYS }),
    };
  });
};

/** A request with known amounts: the request exists, or its deletion mark has the amounts. */
export type KnownRequest = Exclude<RequestFate, { state: 'absent' }> & { requestId: string };

/** The requests whose amounts are known. */
export const knownOf = ({ fates }: Pick<LedgerHistory, 'fates'>): KnownRequest[] =>
  [...fates].flatMap(([requestId, fate]) => (fate.state === 'absent' ? [] : [{ requestId, ...fate }]));

/** Makes each request name its first debit and refund, where the entries have them. */
export const nameEntries = (history: LedgerHistory): LedgerHistory => {
  const fates = new Map(history.fates);
  for (const { requestId, state, request } of knownOf(history)) {
    const numberOf = (wanted: LedgerReason): number | undefined =>
      history.entries.find(({ reason, reference }) => reason === wanted && reference === requestId)?.number;
    const debitEntryNumber = numberOf('generation') ?? request.debitEntryNumber;
    const refundEntryNumber = numberOf('refund') ?? request.refundEntryNumber;
    const isRefunded = (request.refundThousandths ?? 0) > 0;
    const names = { debitEntryNumber, ...(isRefunded && { refundEntryNumber }) };
    fates.set(requestId, { state, request: { ...request, ...names } });
  }
  return { ...history, fates };
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
    const kept = knownOf({ fates }).filter(({ state }) => state === 'kept');
    const open = kept.filter(({ request }) => !isTerminal(request));
    const ended = kept.filter(({ request }) => isTerminal(request));
    if (step === 'topup') changes.push({ reason: 'topup', amount, reference: 'invoice' });
    if (step === 'adjust') changes.push({ reason: 'admin_adjustment', amount: -amount, reference: '' });
    if (step === 'create') {
      const requestId = `img_${fates.size}`;
      const status = pick % 2 === 0 ? 'queued' : 'processing';
      const createdAt = atSeconds(changes.length).toISOString();
      const request = { accountId: ACCOUNT_ID, status, createdAt, debitThousandths: amount } as const;
      fates.set(requestId, { state: 'kept', request });
      changes.push({ reason: 'generation', amount: -amount, reference: requestId });
    }
    if (step === 'succeed' || step === 'fail') {
      const picked = open[pick % open.length];
      if (!picked) continue;
      const { requestId, request } = picked;
      const { debitThousandths: debit } = request;
      // A succeeded request always costs something.
      const cost = step === 'fail' ? 0 : Math.max(1, Math.round(debit * share));
      request.status = step === 'fail' ? 'failed' : 'succeeded';
      request.refundThousandths = debit - cost;
      if (step === 'succeed') request.costThousandths = cost;
      if (debit > cost) changes.push({ reason: 'refund', amount: debit - cost, reference: requestId });
    }
    if (step === 'delete' || step === 'sweep') {
      const { requestId, request } = ended[pick % ended.length] ?? {};
      if (requestId === undefined || !request) continue;
      fates.set(requestId, step === 'delete' ? { state: 'deleted', request } : { state: 'absent' });
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
  return fc
    .array(aStep(...steps), { minLength: 1, maxLength: 60 })
    .map(historyAfter)
    .map(nameEntries);
};
