import type { Command } from 'commander';
import { type Account, getAccount, listAccounts } from '../../core/accounts/accounts.ts';
import { NotFoundError } from '../../core/errors.ts';
import { listModelSettings } from '../../core/models/model-settings.ts';
import { rateProblem } from '../../core/models/rate-problem.ts';
import type { Rate } from '../../core/models/rate-schemas.ts';
import { accountRateOf } from '../../core/models/rates.ts';
import { toXTokens } from '../../core/money.ts';
import { type Instant, systemClock, toInstant } from '../../core/time.ts';
import { rate, since } from '../options.ts';
import { formatTable, type Result } from '../output.ts';
import { type Correction, differenceOf, listCorrections, refundCorrection } from '../price-corrections.ts';
import { modelOf } from '../rate-text.ts';
import { type Perform, type Recorder, UsageError, type Verb } from '../verb.ts';

/** `rates affected` */
export const addAffectedVerb = (
  verb: (name: string, description: string) => Command,
  perform: Perform,
): void => {
  verb('affected', 'list requests debited in an interval, with what another price would have cost')
    .requiredOption('--from <time>', 'the first instant, such as 2026-11-26T09:00Z or 2h', since)
    .option('--to <time>', 'the end, not included (default: now)', since)
    .option('--value <JSON>', 'the other price (default: the rate in force now)', rate)
    .option('--refund', 'give the differences back, once for each request')
    .action(perform(affected));
};

interface AffectedOptions {
  model: string;
  account?: string;
  from: Instant;
  to?: Instant;
  value?: Rate;
  refund?: true;
}

const affected: Verb<AffectedOptions> = async (options, connected, { recorder, say }) => {
  const { from, to = toInstant(systemClock.now()), value: other } = options;
  if (from >= to) throw new UsageError('--from must be before --to.');
  await connected();
  const model = modelOf(options.model);
  const problem = other && rateProblem(model, other);
  if (problem) throw new UsageError(problem);
  const settings = (await listModelSettings()).get(model.id);
  const accounts = options.account === undefined ? await listAccounts() : [await getAccount(options.account)];
  const found: Correction[] = [];
  for (const account of accounts) {
    const rate = other ?? accountRateOf(model.id, settings, account);
    if (!rate)
      throw new NotFoundError(`${model.id} has no readable rate for ${account.accountId}: give --value.`);
    for await (const correction of listCorrections(account, model, { from, to }, rate))
      found.push(correction);
    say(`${found.length} requests of ${accounts.indexOf(account) + 1} of ${accounts.length} accounts`);
  }
  const shown = options.refund ? await refunded(found, await recorder(), say) : found;
  return resultOf(model.id, { from, to }, accounts, shown);
};

/**
 * Refunds the corrections in state `to refund`, one after another, and returns all corrections. A repeated command
 * continues with the refunds that are missing.
 */
const refunded = async (
  found: readonly Correction[],
  { write }: Recorder,
  say: (text: string) => void,
): Promise<Correction[]> => {
  const done: Correction[] = [];
  for (const correction of found) {
    if (correction.state !== 'to refund') {
      done.push(correction);
      continue;
    }
    const { accountId, requestId } = correction;
    const detail = `price of ${requestId}: ${toXTokens(differenceOf(correction))} xTokens back`;
    await refundCorrection(correction, (subject) => write({ accountId, subject, detail }), systemClock.now());
    done.push({ ...correction, state: 'refunded' });
    say(`${done.length} of ${found.length} requests`);
  }
  return done;
};

const resultOf = (
  model: string,
  interval: { from: Instant; to: Instant },
  accounts: readonly Account[],
  found: readonly Correction[],
): Result => {
  const requests = found.map((correction) => ({
    requestId: correction.requestId,
    accountId: correction.accountId,
    debitedAt: correction.debitedAt,
    charged: toXTokens(correction.chargedThousandths),
    wouldCost:
      correction.wouldCostThousandths === undefined ? null : toXTokens(correction.wouldCostThousandths),
    state: correction.state,
  }));
  const byAccount = accounts.flatMap(({ accountId, name }) => {
    const own = found.filter((correction) => correction.accountId === accountId);
    const sum = (state: Correction['state']): number =>
      toXTokens(
        own.filter((one) => one.state === state).reduce((total, one) => total + differenceOf(one), 0),
      );
    const sums = { toRefund: sum('to refund'), refunded: sum('refunded') };
    return own.length === 0 ? [] : [{ accountId, name, requests: own.length, ...sums }];
  });
  const value = { model, ...interval, requests, accounts: byAccount };
  return { value, text: (columns) => textOf(value, columns) };
};

const textOf = (
  {
    requests,
    accounts,
  }: {
    requests: readonly {
      requestId: string;
      debitedAt: string;
      charged: number;
      wouldCost: number | null;
      state: string;
    }[];
    accounts: readonly {
      accountId: string;
      name: string;
      requests: number;
      toRefund: number;
      refunded: number;
    }[];
  },
  columns: number | undefined,
): string => {
  const rows = requests.map(({ debitedAt, requestId, charged, wouldCost, state }) => [
    ...[debitedAt, requestId, charged, wouldCost, state],
  ]);
  const sums = accounts.map(({ accountId, name, toRefund, refunded, ...account }) => [
    ...[accountId, name, account.requests, toRefund, refunded],
  ]);
  const tables = [
    formatTable(['debited', { id: 'request' }, 'charged', 'would cost', 'state'], rows, columns),
    formatTable([{ id: 'account' }, 'name', 'requests', 'to refund', 'refunded'], sums, columns),
  ];
  const isOpen = accounts.some(({ toRefund }) => toRefund > 0);
  return [
    ...tables,
    ...(isOpen ? ['Nothing was changed. Give --refund to give the differences back.'] : []),
  ].join('\n\n');
};
