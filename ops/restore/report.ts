import { renderLedgerEntry } from '../../core/ledger/ledger.ts';
import { type Thousandths, toXTokens } from '../../core/money.ts';
import { formatTable } from '../output.ts';
import type { BalanceDifference, TableComparison } from './compare-tables.ts';
import type { Examined } from './examination.ts';

/** Rows of a list that a text shows; `--json` has all. */
const MAX_ROWS = 20;

const xTokens = (amount: Thousandths | undefined): number | null =>
  amount === undefined ? null : toXTokens(amount);

/** The `--json` value of an examination: without secrets. */
export const jsonOfExamined = (examined: Examined) => {
  const { comparison } = examined;
  return {
    table: examined.name,
    living: examined.living,
    restoredTo: examined.restoredTo,
    seconds: examined.seconds,
    ledger: examined.ledger,
    ...(comparison && jsonOfComparison(comparison)),
    adopted: examined.adopted,
    deploy: examined.deploy,
  };
};

const jsonOfComparison = ({
  entities,
  newest,
  balances,
  lost,
  comeBack,
  open: { heldThousandths, ...open },
  removals,
}: TableComparison) => ({
  entities,
  newest: { restored: nulls(newest.restored), living: nulls(newest.living) },
  balances: balances.map(({ accountId, restoredThousandths, livingThousandths }) => ({
    accountId,
    restored: xTokens(restoredThousandths),
    living: xTokens(livingThousandths),
  })),
  lost: {
    ...lost,
    operatorChanges: lost.operatorChanges.map((entry) => ({
      accountId: entry.accountId,
      ...renderLedgerEntry(entry),
    })),
  },
  comeBack,
  open: { ...open, xTokens: toXTokens(heldThousandths) },
  removals: { ...removals, webhookSecrets: removals.webhookSecrets.map(({ accountId }) => accountId) },
});

const nulls = ({ request = null, ledgerEntry = null }: { request?: unknown; ledgerEntry?: unknown }) => ({
  request,
  ledgerEntry,
});

/** An examination as a text. */
export const describeExamined = (examined: Examined, columns: number | undefined): string => {
  const { name, living, restoredTo, ledger, comparison, seconds } = examined;
  const { restore, verify, compare } = seconds;
  const times = [`restored in ${restore.toFixed(1)} s`, `verified in ${verify.toFixed(1)} s`];
  if (compare !== null) times.push(`compared in ${compare.toFixed(1)} s`);
  return [
    `${name} shows ${living} at ${restoredTo}: ${times.join(', ')}.`,
    `Its ledgers: ${ledger.accounts} accounts, ${ledger.entries} entries, ${ledger.problems.length} problems.`,
    ...ledger.problems
      .slice(0, MAX_ROWS)
      .map(({ accountId, kind, detail }) => `  ${accountId} ${kind}: ${detail}`),
    ...(comparison ? describeComparison(comparison, columns) : []),
  ].join('\n');
};

const describeComparison = (comparison: TableComparison, columns: number | undefined): string[] => {
  const { entities, newest, balances, lost, comeBack, open, removals } = comparison;
  const newestOf = (what: 'request' | 'ledgerEntry'): string =>
    `${newest.restored[what] ?? 'none'} restored, ${newest.living[what] ?? 'none'} living`;
  return [
    '',
    formatTable(
      ['entity', 'restored', 'living', 'new since', 'gone since', 'changed since'],
      entities.map(({ entity, restored, living, added, gone, changed }) => [
        entity,
        restored,
        living,
        added,
        gone,
        changed,
      ]),
      columns,
    ),
    '',
    `Newest request: ${newestOf('request')}. Newest ledger entry: ${newestOf('ledgerEntry')}.`,
    ...listed('Accounts that would be lost', lost.accounts),
    ...listed(
      'Keys that would be lost',
      lost.keys.map(({ keyId, accountId }) => `${keyId} of ${accountId}`),
    ),
    ...listed("Operators' changes of balances to repeat", lost.operatorChanges.map(renderChange)),
    ...listed('Balances that differ', balances.map(renderBalance)),
    `Unfinished in it: ${open.requests} requests with ${toXTokens(open.heldThousandths)} xTokens, which are failed and refunded. ` +
      `Since then ${open.succeededSince} succeeded, ${open.failedSince} failed, ${open.deletedSince} were deleted.`,
    ...listed('Accounts that come back', comeBack.accounts),
    ...(comeBack.requests > 0 ? [`Requests that come back: ${comeBack.requests}.`] : []),
    `Removed since, and removed again at its adoption: ${removals.requests.length} requests, ${removals.endUsers.length} end-users; ` +
      `${removals.keys.length} keys revoked, ${removals.accountBlocks.length} accounts and ${removals.endUserBlocks.length} end-users blocked, ` +
      `${removals.webhookSecrets.length} webhook secrets replaced.`,
  ];
};

const listed = (title: string, lines: readonly string[]): string[] => {
  if (lines.length === 0) return [];
  const more = lines.length > MAX_ROWS ? [`  and ${lines.length - MAX_ROWS} more`] : [];
  return [`${title}: ${lines.length}`, ...lines.slice(0, MAX_ROWS).map((line) => `  ${line}`), ...more];
};

const renderChange = (entry: TableComparison['lost']['operatorChanges'][number]): string => {
  const { type, reason, amount, reference, createdAt } = renderLedgerEntry(entry);
  return `${createdAt} ${entry.accountId} ${reason} ${type === 'debit' ? -amount : amount} ${reference}`;
};

const renderBalance = ({ accountId, restoredThousandths, livingThousandths }: BalanceDifference): string =>
  `${accountId} ${xTokens(restoredThousandths) ?? '-'} restored, ${xTokens(livingThousandths) ?? '-'} living`;
