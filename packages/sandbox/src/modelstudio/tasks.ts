import { createCallCounter } from '../call-counter.ts';
import type { Directives } from '../directives.ts';
import { garbled } from '../garbled.ts';
import type { Handler } from '../http.ts';
import type { TaskJournal } from '../task-journal.ts';
import type { Tasks } from '../tasks.ts';
import { cannotCancel, invalidApiKey, serviceUnavailable } from './errors.ts';

/** The fields a succeeded task adds to its `output`, and its `usage`. */
export type StudioResult = { output: Record<string, unknown>; usage: Record<string, unknown> };

/** The tasks of Model Studio. */
export type StudioTasks = Tasks<Directives, StudioResult>;

/** A task as it is at some instant. */
export type StudioTaskView = NonNullable<ReturnType<StudioTasks['find']>>;

const STATUSES: Record<StudioTaskView['phase'], string> = {
  waiting: 'PENDING',
  running: 'RUNNING',
  succeeded: 'SUCCEEDED',
  failed: 'FAILED',
  cancelled: 'CANCELED',
};

/** Model Studio's time format: `YYYY-MM-DD HH:mm:ss.SSS` without a zone (here UTC). */
const formatTime = (epochMilliseconds: number): string =>
  new Date(epochMilliseconds).toISOString().replace('T', ' ').replace('Z', '');

/** The status that Model Studio reports. */
export const statusOf = (task: StudioTaskView): string =>
  (!('endedAt' in task) && task.about.statusWord) || STATUSES[task.phase];

const describe = (task: StudioTaskView) => {
  const output = {
    task_id: task.id,
    task_status: statusOf(task),
    submit_time: formatTime(task.submittedAt),
    ...('startedAt' in task && { scheduled_time: formatTime(task.startedAt) }),
    ...('endedAt' in task && { end_time: formatTime(task.endedAt) }),
  };
  if (task.phase === 'succeeded')
    return { output: { ...output, ...task.result.output }, usage: task.result.usage };
  if (task.phase === 'failed') return { output: { ...output, ...task.error } };
  return { output };
};

/** `GET /api/v1/tasks/{task_id}`: 200 even for an unknown task, with the status `UNKNOWN`. */
export const createTaskQuery = (tasks: StudioTasks, journal: TaskJournal): Handler => {
  const earlierQueries = createCallCounter();
  return ({ params: { taskId = '' }, requestId }) => {
    journal.countQuery(taskId);
    const task = tasks.find(taskId);
    if (!task) return { request_id: requestId, output: { task_id: taskId, task_status: 'UNKNOWN' } };
    if (task.about.isRevoked) throw invalidApiKey();
    if (earlierQueries.next(taskId) < task.about.unavailableQueries) throw serviceUnavailable(task.about);
    return garbled({ request_id: requestId, ...describe(task) }, 'queries', task.about);
  };
};

/** `POST /api/v1/tasks/{task_id}/cancel`: cancels a task that is PENDING. */
export const createTaskCancel =
  (tasks: StudioTasks, journal: TaskJournal): Handler =>
  ({ params: { taskId = '' }, requestId }) => {
    journal.countCancel(taskId);
    if (!tasks.cancel(taskId)) throw cannotCancel();
    return { request_id: requestId };
  };
