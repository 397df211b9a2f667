import type { Call, Handler } from '../http.ts';
import { invalidParameter } from './errors.ts';
import { type StudioTasks, type StudioTaskView, statusOf } from './tasks.ts';
import { findVideoModel } from './video-models.ts';

const DEFAULT_PAGE_SIZE = 10;
/** The documents name no limit; this is the one of Model Studio's other lists. */
const MAX_PAGE_SIZE = 100;
/** A list spans so much at most, and without a time the last so much. */
const SPAN_MILLISECONDS = 24 * 60 * 60 * 1000;

/** `YYYYMMDDhhmmss`, without a zone (here UTC). */
const TIME = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/;

const timeIn = (query: URLSearchParams, name: 'start_time' | 'end_time'): number | undefined => {
  const given = query.get(name);
  if (given === null) return undefined;
  const [, ...parts] = (TIME.exec(given) ?? []).map(Number);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts;
  if (parts.length === 0) throw invalidParameter(`${name} must be YYYYMMDDhhmmss`);
  return Date.UTC(year, month - 1, day, hour, minute, second);
};

const numberIn = (query: URLSearchParams, name: 'page_no' | 'page_size', otherwise: number): number => {
  const given = Number(query.get(name) ?? otherwise);
  if (!Number.isInteger(given) || given < 1) throw invalidParameter(`${name} must be a whole number from 1`);
  return given;
};

const spanOf = (query: URLSearchParams): { from: number; to: number } => {
  const [start, end] = [timeIn(query, 'start_time'), timeIn(query, 'end_time')];
  if (start === undefined && end === undefined) return { from: 0, to: Number.POSITIVE_INFINITY };
  const from = start ?? (end ?? 0) - SPAN_MILLISECONDS;
  const to = end ?? from + SPAN_MILLISECONDS;
  if (to - from > SPAN_MILLISECONDS) throw invalidParameter('the time range must not exceed 24 hours');
  return { from, to };
};

const entryOf = (model: string, task: StudioTaskView, requestId: string) => {
  const service = findVideoModel(model) ? 'video-generation:video-synthesis' : 'image-generation:generation';
  return {
    api_key_id: '1',
    caller_parent_id: '1',
    caller_uid: '1',
    ...('endedAt' in task && { end_time: task.endedAt }),
    gmt_create: task.submittedAt,
    model_name: model,
    region: 'sandbox',
    request_id: requestId,
    ...('startedAt' in task && { start_time: task.startedAt }),
    status: statusOf(task),
    task_id: task.id,
    user_api_unique_key: `apikey:v1:aigc:${service}:${model}`,
  };
};

/** `GET /api/v1/tasks/`: the states of the account's tasks, without their results, by page. */
export const createTaskList =
  (tasks: StudioTasks): Handler =>
  ({ query, requestId }: Call) => {
    const [pageNo, asked] = [numberIn(query, 'page_no', 1), numberIn(query, 'page_size', DEFAULT_PAGE_SIZE)];
    const pageSize = Math.min(asked, MAX_PAGE_SIZE);
    const { from, to } = spanOf(query);
    const is = (name: string, value: string): boolean => (query.get(name) ?? value) === value;
    const found = tasks
      .list()
      .map(({ lane = '', task }) => entryOf(lane, task, requestId))
      .filter(({ gmt_create: at }) => at >= from && at <= to)
      .filter((one) => is('task_id', one.task_id) && is('model_name', one.model_name))
      .filter((one) => is('status', one.status));
    return {
      request_id: requestId,
      total: found.length,
      data: found.slice((pageNo - 1) * pageSize, pageNo * pageSize),
      total_page: Math.ceil(found.length / pageSize),
      page_no: pageNo,
      page_size: pageSize,
    };
  };
