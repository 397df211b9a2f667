import * as z from 'zod/mini';
import { described, named } from '../../core/answers.ts';
import { EndUserAnswer } from '../../core/end-users/end-user-answers.ts';
import { BalanceHistoryEntry } from '../../core/ledger/balance-answers.ts';
import { GenerationRecord } from '../../core/requests/records.ts';
import type { Page } from '../../core/table/pages.ts';

const pageOf = <Item>(id: string, items: z.ZodMiniType<Item>): z.ZodMiniType<Page<Item>> =>
  named(
    id,
    'One page of a list.',
    z.object({
      items: z.array(items),
      page: described(z.int().check(z.gte(1)), 'As asked.'),
      pageSize: described(z.int().check(z.gte(1)), 'As asked.'),
      hasMore: described(z.boolean(), 'Whether the next page holds at least one item.'),
    }),
  );

/** The answers of the lists. */
export const PAGES = [
  pageOf('GenerationPage', GenerationRecord),
  pageOf('EndUserPage', EndUserAnswer),
  pageOf('BalanceHistoryPage', BalanceHistoryEntry),
] as const;
