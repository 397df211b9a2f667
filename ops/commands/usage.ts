import type { Command } from 'commander';
import type { Account } from '../../core/accounts/accounts.ts';
import { renderSums, renderUsageGroup, usageOf } from '../../core/ledger/usage.ts';
import type { UsageItem } from '../../core/ledger/usage-answers.ts';
import {
  mergedBy,
  totalOf,
  USAGE_DIMENSIONS,
  type UsageDimension,
  type UsageGroup,
} from '../../core/ledger/usage-rules.ts';
import { month, namesAmong } from '../options.ts';
import type { Cell, Head } from '../output.ts';
import { about } from '../subject.ts';
import { accountOrAll, monthOr, monthReport } from '../usage-report.ts';
import type { Perform, Verb } from '../verb.ts';

const BY = ['account', ...USAGE_DIMENSIONS] as const;
type By = (typeof BY)[number];
type Month = ReturnType<typeof month>;

/** `usage show` */
export const addUsageVerbs = (usage: Command, perform: Perform): void => {
  const command = usage
    .command('show')
    .description('debits and refunds of a month, as the ledgers have them');
  about(command, 'account', 'only this account', { isRequired: false })
    .option('--month <month>', 'a month in UTC, like 2026-11 (default: this month)', month)
    .option('--by <names>', `any of ${BY.join(',')}`, namesAmong(BY), ['account', 'model'])
    .option('--csv', 'print CSV')
    .action(perform(show));
};

const show: Verb<{ account?: string; month?: Month; by: By[]; csv?: true }> = async (
  { account, month: asked, by, csv },
  connected,
  { say },
) => {
  await connected();
  const range = monthOr(asked);
  const accounts = await accountOrAll(account);
  const dimensions = by.filter((name): name is UsageDimension => name !== 'account');
  const groups: (UsageGroup & { account: string })[] = [];
  for (const [index, each] of accounts.entries()) {
    say(`account ${index + 1} of ${accounts.length}`);
    const found = await usageOf(each, { ...range, by: dimensions });
    groups.push(...found.groups.map((group) => ({ ...group, account: each.accountId })));
  }
  const items: (UsageItem & { accountId?: string })[] = mergedBy(by, groups, totalOf).map((group) => ({
    ...(by.includes('account') && { accountId: group.account }),
    ...renderUsageGroup(group),
  }));
  const total = renderSums(totalOf(groups));
  const value = {
    ...{ from: range.from.slice(0, 10), to: range.to.slice(0, 10), by },
    items: by.length === 0 ? [] : items,
    total,
  };
  const names = new Map(accounts.map(({ accountId, name }: Account) => [accountId, name]));
  const sums = ({ requests, debited, refunded, xTokens }: typeof total): Cell[] => [
    ...[requests, debited, refunded, xTokens],
  ];
  const cellsOf = (item: (typeof items)[number]): Cell[] =>
    by.flatMap((name): Cell[] => {
      if (name === 'account') return [item.accountId, names.get(item.accountId ?? '')];
      if (name === 'day') return [item.day];
      if (name === 'model') return [item.model ?? 'unknown'];
      return name === 'key' ? [item.keyId ?? 'unknown'] : [item.endUserEmail ?? 'deleted'];
    });
  const rows = items.map((item) => [...cellsOf(item), ...sums(item)]);
  const head = by.flatMap((name): Head[] => {
    if (name === 'account') return [{ id: 'account' }, 'name'];
    return [name === 'key' ? { id: 'key' } : name === 'endUser' ? 'end-user' : name];
  });
  const figures = ['requests', 'debited', 'refunded', 'xTokens'];
  const totals = [...head.map((_, index) => (index === 0 ? 'total' : '')), ...sums(total)];
  return { value, text: monthReport([...head, ...figures], rows, totals, csv) };
};
