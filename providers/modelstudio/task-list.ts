import * as z from 'zod/mini';
import type { TaskListing } from '../../core/provider-calls/providers.ts';
import { answerText, type HttpAnswer, logUnreadable, optionalNumber, readBody } from '../http.ts';
import { untoldList } from '../task-lists.ts';
import { taskStateOf } from '../task-states.ts';

/** One page of a list: https://www.alibabacloud.com/help/en/model-studio/manage-asynchronous-tasks */
const Page = z.object({
  data: z.array(z.object({ task_id: answerText(), status: answerText() })),
  total_page: optionalNumber(),
});
type Page = z.output<typeof Page>;

/** The documents name no most; Model Studio's other lists take 100. */
const PAGE_SIZE = 100;
/** Pages of a status. An Alibaba account may have other programs with tasks of their own. */
const MAX_PAGES = 10;

/**
 * The unfinished tasks of the account, some `expected` ones at least. Asks for unfinished ones only, and for no time: a list of ended tasks would grow with the day, and
 * the zone of its times is not documented.
 */
export const listUnfinished = async (
  expected: number,
  get: (path: string) => Promise<HttpAnswer>,
): Promise<TaskListing> => {
  // Most tasks run, and their pages are asked for at once.
  const running = Math.min(MAX_PAGES, Math.max(1, Math.ceil(expected / PAGE_SIZE)));
  const lists = await Promise.all([listStatus('RUNNING', running, get), listStatus('PENDING', 1, get)]);
  const untold = lists.find((list): list is TaskListing => !Array.isArray(list));
  if (untold) return untold;
  const pages = lists.filter((list): list is Page[] => Array.isArray(list));
  const entries = pages.flat().flatMap(({ data }) => data);
  return {
    kind: 'listed',
    unfinished: new Set(
      entries.flatMap(({ task_id, status = '' }) =>
        task_id && taskStateOf(status) === 'unfinished' ? [task_id] : [],
      ),
    ),
    isComplete: pages.every(isWhole),
  };
};

const isWhole = (pages: readonly Page[]): boolean => {
  const [first] = pages;
  if (first?.total_page === undefined) return (first?.data.length ?? 0) < PAGE_SIZE;
  return pages.length >= first.total_page;
};

/** The pages of tasks with a status, or the reason why a page could not be read. */
const listStatus = async (
  status: 'RUNNING' | 'PENDING',
  expected: number,
  get: (path: string) => Promise<HttpAnswer>,
): Promise<Page[] | TaskListing> => {
  const pageOf = async (number: number): Promise<Page | TaskListing> =>
    readPage(await get(`/api/v1/tasks/?status=${status}&page_no=${number}&page_size=${PAGE_SIZE}`));
  const pagesTo = (last: number, after = 0): Promise<(Page | TaskListing)[]> =>
    Promise.all(Array.from({ length: Math.max(0, last - after) }, (_, index) => pageOf(after + index + 1)));
  const first = await pagesTo(expected);
  const last = Math.max(...first.map((page) => ('kind' in page ? 0 : (page.total_page ?? 1))));
  const all = [...first, ...(await pagesTo(Math.min(last, MAX_PAGES), expected))];
  const pages = all.filter((page): page is Page => !('kind' in page));
  return all.find((page): page is TaskListing => 'kind' in page) ?? pages;
};

const readPage = (answer: HttpAnswer): Page | TaskListing => {
  const isTold = answer.kind === 'answered' && answer.status === 200;
  const page = isTold ? readBody(Page, answer.body) : undefined;
  if (isTold && !page) logUnreadable('modelstudio', 'list', answer.status, answer.body);
  return page ?? untoldList(answer);
};
