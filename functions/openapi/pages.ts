import * as z from 'zod/mini';
import { described, instant, named } from '../../core/answers.ts';
import { EndUserAnswer } from '../../core/end-users/end-user-answers.ts';
import { BalanceHistoryEntry } from '../../core/ledger/balance-answers.ts';
import { GenerationRecord, VideoRecord } from '../../core/requests/records.ts';
import { MAX_SEARCHED } from '../../core/requests/request-lists.ts';
import type { Page } from '../../core/table/pages.ts';

const fieldsOf = <Item>(items: z.ZodMiniType<Item>) => ({
  items: z.array(items),
  page: described(z.int().check(z.gte(1)), 'As asked.'),
  pageSize: described(z.int().check(z.gte(1)), 'As asked.'),
  hasMore: described(z.boolean(), 'Whether the next page holds at least one item.'),
});

const pageOf = <Item>(id: string, items: z.ZodMiniType<Item>): z.ZodMiniType<Page<Item>> =>
  named(id, 'One page of a list.', z.object(fieldsOf(items)));

const requestPageOf = <Item>(id: string, items: z.ZodMiniType<Item>) =>
  named(
    id,
    'One page of a list.',
    z.object({
      ...fieldsOf(items),
      nextCreatedBefore: z.optional(
        instant(
          `Only with \`model\`: the page ends before it is full, because ${MAX_SEARCHED} requests were searched for it. Give this as \`createdBefore\`, with \`page\` 1, to go on.`,
        ),
      ),
    }),
  );

/** The answers of the lists. */
export const PAGES = [
  requestPageOf('GenerationPage', GenerationRecord),
  requestPageOf('VideoPage', VideoRecord),
  pageOf('EndUserPage', EndUserAnswer),
  pageOf('BalanceHistoryPage', BalanceHistoryEntry),
] as const;
