import type { Command } from 'commander';
import { mergedBy } from '../../core/ledger/usage-rules.ts';
import { toXTokens } from '../../core/money.ts';
import {
  COST_DIMENSIONS,
  type CostDimension,
  type CostGroup,
  type CostSums,
  costsOf,
  totalCosts,
} from '../costs.ts';
import { month, namesAmong } from '../options.ts';
import type { Cell, Head } from '../output.ts';
import { about } from '../subject.ts';
import { accountOrAll, monthOr, monthReport } from '../usage-report.ts';
import type { Perform, Verb } from '../verb.ts';

const BY = ['account', ...COST_DIMENSIONS] as const;
type By = (typeof BY)[number];
type Group = CostGroup & { account?: string };

/** `usage costs` */
export const addUsageCostsVerb = (usage: Command, perform: Perform): void => {
  const command = usage
    .command('costs')
    .description('what the requests of a month brought, cost by their providers, and left');
  about(command, 'account', 'only this account', { isRequired: false })
    .option('--month <month>', 'a month in UTC, like 2026-11 (default: this month)', month)
    .option('--by <names>', `any of ${BY.join(',')}`, namesAmong(BY), ['account', 'model', 'route'])
    .option('--csv', 'print CSV')
    .action(perform(costs));
};

const costs: Verb<{ account?: string; month?: ReturnType<typeof month>; by: By[]; csv?: true }> = async (
  { account, month: asked, by, csv },
  connected,
  { say },
) => {
  await connected();
  const range = monthOr(asked);
  const accounts = await accountOrAll(account);
  const dimensions = by.filter((name): name is CostDimension => name !== 'account');
  const groups: Group[] = [];
  for (const [index, each] of accounts.entries()) {
    say(`account ${index + 1} of ${accounts.length}`);
    const found = await costsOf(each, { ...range, by: dimensions });
    groups.push(
      ...found.map((group) => ({ ...group, ...(by.includes('account') && { account: each.accountId }) })),
    );
  }
  const items = mergedBy(by, groups, totalCosts).map((group) => ({
    ...Object.fromEntries(by.map((name) => [name === 'account' ? 'accountId' : name, group[name] ?? null])),
    ...rendered(group),
  }));
  const total = rendered(totalCosts(groups));
  const value = { from: range.from.slice(0, 10), to: range.to.slice(0, 10), by, items, total };
  const rows = items.map((item): Cell[] => Object.values(item).map((cell): Cell => cell ?? 'unknown'));
  const heads: Head[] = [
    ...by.map((name): Head => (name === 'account' ? { id: name } : name)),
    ...['requests', 'without cost', 'xTokens', 'cost', 'counted', 'reported', 'margin'],
  ];
  const totals = [...by.map((_, index) => (index === 0 ? 'total' : '')), ...Object.values(total)];
  return { value, text: monthReport(heads, rows, totals, csv) };
};

/** Sums in xTokens. `counted` is the part of `cost` that `reported` shows by the usage that providers reported. */
const rendered = (sums: CostSums) => ({
  requests: sums.requests,
  withoutCost: sums.withoutCost,
  xTokens: toXTokens(sums.netThousandths),
  cost: toXTokens(sums.costThousandths),
  counted: toXTokens(sums.comparedThousandths),
  reported: toXTokens(sums.reportedThousandths),
  margin: toXTokens(sums.marginThousandths),
});
