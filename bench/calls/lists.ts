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

const EMAIL = endUserEmail(0);

type Callers = Record<Fate, Caller>;

/** Creates accounts with `count` records of each kind and measures the first and the last page of every list. */
export const measureLists = async (
  service: MeasuredService,
  count: number,
  now: Date,
): Promise<Section[]> => {
  const callers = await putAccounts(count, now);
  const history: List = {
    ...{ caller: callers.succeeded, path: '/v1/balance/history' },
    ...{ records: count, situation: 'entries', matching: count },
  };
  return [
    { title: 'Generations', rows: await measureAll(service, generationLists(callers, count, now)) },
    { title: 'End-users', rows: await measureAll(service, endUserLists(callers.succeeded, count)) },
    { title: 'Balance history', rows: await measureAll(service, [history]) },
    { title: 'Lists without matches', rows: await measureAll(service, emptyLists(callers, count)) },
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

/** Lists without matches. */
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
  const rows: Row[] = [];
  for (const page of new Set([1, last])) {
    const search = new URLSearchParams({ ...query, page: String(page) });
    const measured = await service.send({ apiKey: caller.apiKey, path: `${path}?${search}` });
    const row = rowOf(measured, { request: `GET ${withQuery(path, query)}`, records, situation, page });
    checkPage(row, measured.body as Page, matching);
    rows.push(row);
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
