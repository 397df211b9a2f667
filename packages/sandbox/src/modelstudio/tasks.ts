import type { Directives } from '../directives.ts';
import type { Handler } from '../http.ts';
import type { TaskJournal } from '../task-journal.ts';
import type { Tasks } from '../tasks.ts';
import { cannotCancel } from './errors.ts';

/** What a finished task adds to its `output`, and its `usage`. */
export type StudioResult = { output: Record<string, unknown>; usage: Record<string, unknown> };

/** The tasks of Model Studio, with what their prompt asks of the sandbox. */
export type StudioTasks = Tasks<Pick<Directives, 'statusWord'>, StudioResult>;

type StudioTaskView = NonNullable<ReturnType<StudioTasks['find']>>;

const STATUSES: Record<StudioTaskView['phase'], string> = {
  waiting: 'PENDING',
  running: 'RUNNING',
  succeeded: 'SUCCEEDED',
  failed: 'FAILED',
  cancelled: 'CANCELED',
};

/** Model Studio's form of an instant: `YYYY-MM-DD HH:mm:ss.SSS`, no zone (UTC here). */
export const formatTime = (epochMilliseconds: number): string =>
  new Date(epochMilliseconds).toISOString().replace('T', ' ').replace('Z', '');

const statusOf = (task: StudioTaskView): string =>
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

/** `GET /api/v1/tasks/{task_id}`: 200 even for a task that is not there, whose status is then `UNKNOWN`. */
export const createTaskQuery =
  (tasks: StudioTasks, journal: TaskJournal): Handler =>
  ({ params: { taskId = '' }, requestId }) => {
    journal.queried(taskId);
    const task = tasks.find(taskId);
    return {
      request_id: requestId,
      ...(task ? describe(task) : { output: { task_id: taskId, task_status: 'UNKNOWN' } }),
    };
  };

/** `POST /api/v1/tasks/{task_id}/cancel`: works on a task that is still PENDING. */
export const createTaskCancel =
  (tasks: StudioTasks): Handler =>
  ({ params: { taskId = '' }, requestId }) => {
    if (!tasks.cancel(taskId)) throw cannotCancel();
    return { request_id: requestId };
  };
