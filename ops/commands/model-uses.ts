import type { Command } from 'commander';
import { listAccounts } from '../../core/accounts/accounts.ts';
import { usageOf } from '../../core/ledger/usage.ts';
import { totalOf, type UsageGroup } from '../../core/ledger/usage-rules.ts';
import { toXTokens } from '../../core/money.ts';
import { addSeconds, SECONDS_PER_DAY, systemClock, toInstant } from '../../core/time.ts';
import { formatTable } from '../output.ts';
import { modelOf } from '../rate-text.ts';
import type { Perform, Verb } from '../verb.ts';

/** `models uses` */
export const addUsesVerb = (verb: (name: string, description: string) => Command, perform: Perform): void => {
  verb(
    'uses',
    'accounts that created requests for the model in the last 30 days, the most requests first',
  ).action(perform(uses));
};

const DAYS = 30;

/** Reads the ledgers, as `usage show` does: requests that were deleted count, too. */
const uses: Verb<{ model: string }> = async ({ model: id }, connected, { say }) => {
  await connected();
  const model = modelOf(id);
  const now = toInstant(systemClock.now());
  const range = { from: addSeconds(now, -DAYS * SECONDS_PER_DAY), to: addSeconds(now, SECONDS_PER_DAY) };
  const accounts = await listAccounts();
  const value: (ReturnType<typeof useOf> & { accountId: string; name: string })[] = [];
  for (const [index, account] of accounts.entries()) {
    say(`account ${index + 1} of ${accounts.length}`);
    const { groups } = await usageOf(account, { ...range, by: ['day', 'model'] });
    const created = groups.filter((group) => group.model === model.id && group.requests > 0);
    const { accountId, name } = account;
    if (created.length > 0) value.push({ accountId, name, ...useOf(created) });
  }
  value.sort((one, other) => other.requests - one.requests);
  return {
    value,
    text: (columns) =>
      formatTable(
        [{ id: 'account' }, 'name', 'requests', 'xTokens', 'last used on'],
        value.map((use) => [use.accountId, use.name, use.requests, use.xTokens, use.lastUsedOn]),
        columns,
      ),
  };
};

/** The sums over an account's days. `xTokens` is the sum of debits, without regard to refunds. */
const useOf = (days: readonly UsageGroup[]) => {
  const { requests, debitedThousandths } = totalOf(days);
  return { requests, xTokens: toXTokens(debitedThousandths), lastUsedOn: days.at(-1)?.day ?? null };
};
