import * as z from 'zod/mini';
import type { TaskListing } from '../../core/provider-calls/providers.ts';
import { answerText, type HttpAnswer, logUnreadable, readBody } from '../http.ts';
import { untoldList } from '../task-lists.ts';
import { taskStateOf } from '../task-states.ts';
import { TASKS_PATH } from './videos.ts';

/** A list: https://www.volcengine.com/docs/82379/1521675 */
const Page = z.object({ items: z.array(z.object({ id: answerText(), status: answerText() })) });

/** Ids of one call, whose URL is then some 2,500 characters long. */
const IDS_AT_ONCE = 50;

/** The unfinished ones of these tasks. */
export const listUnfinishedOf = async (
  taskIds: readonly string[],
  get: (path: string) => Promise<HttpAnswer>,
): Promise<TaskListing> => {
  const parts = Array.from({ length: Math.ceil(taskIds.length / IDS_AT_ONCE) }, (_, index) =>
    taskIds.slice(index * IDS_AT_ONCE, (index + 1) * IDS_AT_ONCE),
  );
  const answers = await Promise.all(parts.map((ids) => get(pathOf(ids))));
  const unfinished = new Set<string>();
  for (const answer of answers) {
    const isTold = answer.kind === 'answered' && answer.status === 200;
    const page = isTold ? readBody(Page, answer.body) : undefined;
    if (isTold && !page) logUnreadable('modelark', 'list', answer.status, answer.body);
    if (!page) return untoldList(answer);
    for (const { id, status = '' } of page.items)
      if (id && taskStateOf(status) === 'unfinished') unfinished.add(id);
  }
  return { kind: 'listed', unfinished, isComplete: true };
};

const pathOf = (ids: readonly string[]): string =>
  `${TASKS_PATH}?page_num=1&page_size=${IDS_AT_ONCE}${ids.map((id) => `&filter.task_ids=${encodeURIComponent(id)}`).join('')}`;
