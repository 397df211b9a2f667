import { DEFAULT_PAGE_SIZE } from '../../core/table/pages.ts';
import { SECONDS_PER_DAY, toInstant } from '../../core/time.ts';
import { type Row, rowOf } from './rows.ts';
import {
  type Caller,
  endUserEmail,
  type Fate,
  putCaller,
  putEndUsers,
  putLedger,
  putRequests,
} from './seed.ts';
import type { MeasuredService } from './service.ts';

/** A group of rows. */
export interface Section {
  title: string;
  rows: Row[];
}

/** A list request to measure. */
interface List {
  caller: Caller;
  path: string;
  query?: Record<string, string>;
  /** Number of records the account has, and their description. */
  records: number;
  situation: string;
  /** Number of records in the list. */
  matching: number;
}

/** The measured pages, besides the last one. */
const PAGES = [1, 100];
const EMAIL = endUserEmail(0);

type Callers = Record<Fate, Caller>;

/** Creates accounts with each number of records and measures pages 1, 100 and the last one of every list. */
export const measureLists = async (
  service: MeasuredService,
  counts: readonly number[],
  now: Date,
): Promise<Section[]> => {
  const generations: List[] = [];
  const endUsers: List[] = [];
  const history: List[] = [];
  const empty: List[] = [];
  for (const count of counts) {
    const callers = await putAccounts(count, now);
    generations.push(...generationLists(callers, count, now));
    endUsers.push(...endUserLists(callers.succeeded, count));
    history.push({
      ...{ caller: callers.succeeded, path: '/v1/balance/history' },
      ...{ records: count, situation: 'entries', matching: count },
    });
    empty.push(...emptyLists(callers, count));
  }
  return [
    { title: 'Generations', rows: await measureAll(service, generations) },
    { title: 'End-users', rows: await measureAll(service, endUsers) },
    { title: 'Balance history', rows: await measureAll(service, history) },
    { title: 'Lists without matches', rows: await measureAll(service, empty) },
  ];
};

const putAccounts = async (count: number, now: Date): Promise<Callers> => {
  const putAccount = async (fate: Fate) => {
    const caller = await putCaller(`${count} ${fate}`, now);
    await putRequests(caller, EMAIL, { count, fate, now });
    return caller;
  };
  const succeeded = await putAccount('succeeded');
  await putEndUsers(succeeded, { count, now });
  await putLedger(succeeded, { count, now });
  return { succeeded, expired: await putAccount('expired'), failed: await putAccount('failed') };
};

const generationLists = (callers: Callers, count: number, now: Date): List[] => {
  const lastWeek = { createdAfter: toInstant(new Date(now.getTime() - 7 * SECONDS_PER_DAY * 1000)) };
  const endUser = { endUserEmail: EMAIL };
  const lists: [Fate, Record<string, string>][] = [
    ['succeeded', {}],
    ['succeeded', endUser],
    ['succeeded', { status: 'succeeded' }],
    ['expired', { status: 'expired' }],
    ['failed', { status: 'failed' }],
    ['succeeded', lastWeek],
    ['succeeded', { ...endUser, status: 'succeeded', ...lastWeek }],
    ['expired', { ...endUser, status: 'expired', ...lastWeek }],
  ];
  return lists.map(([fate, query]) => ({
    ...{ caller: callers[fate], path: '/v1/generations', query },
    ...{ records: count, situation: fate, matching: count },
  }));
};

const endUserLists = (caller: Caller, count: number): List[] => {
  const half = { records: count, situation: '(half of them match)', matching: count / 2 };
  return [
    { caller, path: '/v1/end-users', records: count, situation: '', matching: count },
    { caller, path: '/v1/end-users', query: { blocked: 'true' }, ...half },
    { caller, path: '/v1/end-users', query: { email: '.EVEN@' }, ...half },
  ];
};

/** Lists without matches that read the whole index: it lacks the attribute that decides. */
const emptyLists = (callers: Callers, count: number): List[] => [
  {
    ...{ caller: callers.succeeded, path: '/v1/generations', query: { status: 'expired' } },
    ...{ records: count, situation: 'succeeded', matching: 0 },
  },
  {
    ...{ caller: callers.expired, path: '/v1/generations', query: { status: 'succeeded' } },
    ...{ records: count, situation: 'expired', matching: 0 },
  },
  {
    ...{ caller: callers.succeeded, path: '/v1/end-users', query: { email: 'nobody@' } },
    ...{ records: count, situation: '', matching: 0 },
  },
];

const measureAll = async (service: MeasuredService, lists: readonly List[]): Promise<Row[]> => {
  const rows: Row[] = [];
  for (const list of lists) rows.push(...(await measureList(service, list)));
  return rows;
};

const measureList = async (service: MeasuredService, list: List): Promise<Row[]> => {
  const { caller, path, query = {}, records, situation, matching } = list;
  const last = Math.max(1, Math.ceil(matching / DEFAULT_PAGE_SIZE));
  const pages = matching === 0 ? [1] : [...new Set([...PAGES, last])].toSorted((a, b) => a - b);
  const rows: Row[] = [];
  for (const page of pages) {
    const search = new URLSearchParams({ ...query, page: String(page) });
    const measured = await service.send({ apiKey: caller.apiKey, path: `${path}?${search}` });
    const row = rowOf(measured, { request: `GET ${withQuery(path, query)}`, records, situation, page });
    checkPage(row, measured.body as Page, matching);
    const first = rows[0] ?? row;
    rows.push({ ...row, timesFirstPage: Math.round((row.readUnits / first.readUnits) * 100) / 100 });
  }
  return rows;
};

const withQuery = (path: string, query: Record<string, string>): string => {
  const given = Object.entries(query).map(([name, value]) =>
    ['createdAfter', 'endUserEmail'].includes(name) ? `${name}=…` : `${name}=${value}`,
  );
  return given.length === 0 ? path : `${path}?${given.join('&')}`;
};

interface Page {
  items: unknown[];
  hasMore: boolean;
}

/** Throws unless the page has the expected number of items. */
const checkPage = (row: Row, { items, hasMore }: Page, matching: number): void => {
  const end = (row.page ?? 1) * DEFAULT_PAGE_SIZE;
  const expected = Math.min(DEFAULT_PAGE_SIZE, Math.max(0, matching - end + DEFAULT_PAGE_SIZE));
  if (items.length !== expected || hasMore !== end < matching) {
    throw new Error(`${row.request}, page ${row.page}: ${items.length} items and hasMore ${hasMore}.`);
  }
};
