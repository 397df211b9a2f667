import { type Account, getAccount, listAccounts } from '../core/accounts/accounts.ts';
import { systemClock, toInstant } from '../core/time.ts';
import { formatCsv } from './csv.ts';
import { month } from './options.ts';
import { type Cell, formatTable, type Head, titleOf } from './output.ts';

type Month = ReturnType<typeof month>;

/** The month that was asked for, else this one. */
export const monthOr = (asked: Month | undefined): Month =>
  asked ?? month(toInstant(systemClock.now()).slice(0, 7));

/** The account that was asked for, else all. Throws `NotFoundError`. */
export const accountOrAll = async (accountId: string | undefined): Promise<Account[]> =>
  accountId === undefined ? listAccounts() : [await getAccount(accountId)];

/** The report of a month: CSV, or a table for this many columns with its totals below. */
export const monthReport =
  (heads: readonly Head[], rows: readonly Cell[][], totals: readonly Cell[], csv: true | undefined) =>
  (columns: number | undefined): string => {
    if (csv) return formatCsv(heads.map(titleOf), rows);
    return formatTable(heads, rows.length > 1 ? [...rows, [...totals]] : rows, columns);
  };
