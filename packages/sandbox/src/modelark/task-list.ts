import type { Call } from '../http.ts';
import type { TaskView } from '../tasks.ts';
import { invalidParameter } from './errors.ts';
import { type ArkTaskAbout, type ArkTaskResult, renderArkTask } from './video-tasks.ts';

/** Pages, and tasks of a page, are at most so many. */
const MAX = 500;
const DEFAULT_PAGE_SIZE = 20;

const numberIn = (query: URLSearchParams, name: 'page_num' | 'page_size', otherwise: number): number => {
  const given = Number(query.get(name) ?? otherwise);
  if (!Number.isInteger(given) || given < 1 || given > MAX)
    throw invalidParameter(name, `expected a whole number from 1 to ${MAX}`);
  return given;
};

/** The answer of `GET /api/v3/contents/generations/tasks` for the account's tasks: one page of those that the filters name. */
export const listArkTasks = (
  tasks: readonly TaskView<ArkTaskAbout, ArkTaskResult>[],
  { query }: Pick<Call, 'query'>,
) => {
  const [pageNum, pageSize] = [
    numberIn(query, 'page_num', 1),
    numberIn(query, 'page_size', DEFAULT_PAGE_SIZE),
  ];
  const ids = query.getAll('filter.task_ids');
  const is = (name: string, value: string): boolean => (query.get(name) ?? value) === value;
  const found = tasks
    .filter(({ id }) => ids.length === 0 || ids.includes(id))
    .map(renderArkTask)
    .filter(({ status, model }) => is('filter.status', status) && is('filter.model', model));
  return { items: found.slice((pageNum - 1) * pageSize, pageNum * pageSize), total: found.length };
};
