import type { EndUserFilter } from '../../core/end-users/end-user-lists.ts';
import type { RequestFilter } from '../../core/requests/request-lists.ts';
import type { Page, PageRequest } from '../../core/table/pages.ts';
import type { Fate } from '../calls/seed.ts';
import { itemBytes, readUnits } from '../costs/table-units.ts';
import { type Part, type Result, resultOf } from '../results.ts';

/** Figures beside page 1. Those before are of the worst list. */
const BUDGETS = {
  'page 100': { budget: 3, baseline: 3.6 },
  'last page': { budget: 6, baseline: 11 },
} as const;
const PAGE_SIZE = 20;
const RECORDS = 10_000;
/** Index entries of some 140 bytes in an answer of 1 MB. */
const ENTRIES_PER_ANSWER = 7_500;
/** The account, which every call reads. */
const ACCOUNT_UNITS = 1;
const NOW = new Date('2026-11-22T12:00:00.000Z');
const LAST_WEEK = '2026-11-15T12:00:00.000Z';

/** A list that is measured. */
interface MeasuredList {
  name: string;
  /** What the requests of the account read as. */
  holds: Fate;
  filter: { requests: RequestFilter } | { endUsers: EndUserFilter };
  /** Share of the records that match; 1 unless said. */
  share?: number;
  /** Whether there is a budget: an address is searched entry by entry. */
  isCounted?: boolean;
}

/** The lists that are measured. */
export const LISTS: readonly MeasuredList[] = [
  { name: 'generations', holds: 'succeeded', filter: { requests: {} } },
  { name: 'generations of an end-user', holds: 'succeeded', filter: { requests: { endUserEmail: 'EMAIL' } } },
  { name: 'generations since', holds: 'succeeded', filter: { requests: { createdAfter: LAST_WEEK } } },
  { name: 'generations, succeeded', holds: 'succeeded', filter: { requests: { status: 'succeeded' } } },
  { name: 'generations, expired', holds: 'expired', filter: { requests: { status: 'expired' } } },
  { name: 'generations, failed', holds: 'failed', filter: { requests: { status: 'failed' } } },
  { name: 'end-users', holds: 'succeeded', filter: { endUsers: {} } },
  { name: 'end-users, blocked', holds: 'succeeded', filter: { endUsers: { blocked: true } }, share: 0.5 },
  {
    name: 'end-users by a part of the address',
    holds: 'succeeded',
    filter: { endUsers: { email: '.even@' } },
    share: 0.5,
    isCounted: false,
  },
];

/** How much more a late page of a list of 10,000 reads than page 1, the first time and from then on. */
export const measurePages = async (records = RECORDS, lists = LISTS): Promise<Part> => {
  const service = await loadService();
  const results: Result[] = [];
  for (const list of lists) results.push(...(await measureList(service, list, records)));
  service.memory.client.restore();
  return {
    title: 'Late pages of lists',
    note: `Read units of a page over those of page 1, by rule, of lists of ${RECORDS.toLocaleString('en')} by 20, counted on a table in memory. *First time* is the first late page that
anybody reads since the entries before it were written: it counts them, for one write unit per 500 entries or more, and later ones pass over them. A part of an address is searched entry by entry.`,
    results,
  };
};

type Service = Awaited<ReturnType<typeof loadService>>;

/** The service's lists, on a table in memory. */
const loadService = async () => {
  await import('../../test/unit/builders/environment.ts');
  const [{ table }, { MemoryTable }, seed, { listImageRequests }, { listEndUsers }, { listCountsPartition }] =
    await Promise.all([
      import('../../core/table/table.ts'),
      import('../../test/unit/fakes/memory-table.ts'),
      import('../calls/seed.ts'),
      import('../../core/requests/request-lists.ts'),
      import('../../core/end-users/end-user-lists.ts'),
      import('../../core/table/count-keys.ts'),
    ]);
  return { memory: new MemoryTable(table), seed, listImageRequests, listEndUsers, listCountsPartition };
};

const measureList = async (service: Service, list: MeasuredList, records: number): Promise<Result[]> => {
  const { memory, listCountsPartition } = service;
  const { accountId, read } = await putList(service, list, records);
  const unitsOf = async (page: number): Promise<number> => {
    memory.client.resetHistory();
    const { items } = await read({ page, pageSize: PAGE_SIZE });
    if (items.length !== PAGE_SIZE)
      throw new Error(`Page ${page} of ${list.name} has ${items.length} items.`);
    const calls = memory.client.calls().map(({ args, returnValue }) => unitsOfCall(args[0], returnValue));
    return (await Promise.all(calls)).reduce((sum, units) => sum + units, ACCOUNT_UNITS);
  };
  const first = await unitsOf(1);
  const last = (records * (list.share ?? 1)) / PAGE_SIZE;
  const results: Result[] = [];
  for (const [name, page] of [['page 100', 100] as const, ['last page', last] as const]) {
    for (const { PK, SK } of memory.partition(listCountsPartition(accountId)))
      memory.remove({ PK: String(PK), SK: String(SK) });
    const firstTime = await unitsOf(page);
    const again = await unitsOf(page);
    results.push(
      resultOf(`${list.name}: ${name}`, again / first, '×', list.isCounted === false ? {} : BUDGETS[name]),
      resultOf(`${list.name}: ${name}, first time`, firstTime / first, '×'),
    );
  }
  return results;
};

/** Puts an account whose list holds so many records into an empty table. */
const putList = async (
  { memory, seed, listImageRequests, listEndUsers }: Service,
  { holds, filter }: MeasuredList,
  records: number,
) => {
  memory.reset();
  memory.itemsPerQuery = ENTRIES_PER_ANSWER;
  const caller = await seed.putCaller('lists', NOW);
  const { accountId } = caller.account;
  const email = seed.endUserEmail(0);
  if ('requests' in filter) await seed.putRequests(caller, email, { count: records, fate: holds, now: NOW });
  else await seed.putEndUsers(caller, { count: records, now: NOW });
  const read = (page: PageRequest): Promise<Page<unknown>> => {
    if ('endUsers' in filter) return listEndUsers(accountId, filter.endUsers, page, NOW);
    const endUser = filter.requests.endUserEmail === undefined ? {} : { endUserEmail: email };
    return listImageRequests(accountId, { ...filter.requests, ...endUser }, page, NOW);
  };
  return { accountId, read };
};

type Item = Record<string, unknown>;

/** Read units of a call: each item of a batch by itself, those of a query together. Writes read nothing. */
const unitsOfCall = async ({ input }: { input: object }, returned: unknown): Promise<number> => {
  const { Items, Responses } = ((await returned) ?? {}) as {
    Items?: Item[];
    Responses?: Record<string, Item[]>;
  };
  const isConsistent = 'ConsistentRead' in input && input.ConsistentRead === true;
  const bytesOf = (items: readonly Item[]): number => items.reduce((sum, item) => sum + itemBytes(item), 0);
  if (Items) return readUnits(bytesOf(Items), isConsistent);
  return Object.values(Responses ?? {})
    .flat()
    .reduce((sum, item) => sum + readUnits(itemBytes(item), true), 0);
};
