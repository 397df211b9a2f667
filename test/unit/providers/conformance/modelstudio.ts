import { ModelStudio } from '../../../../providers/modelstudio/modelstudio.ts';
import { anImageRequest, aVideoRequest } from '../../builders/entities.ts';
import { FAILURE } from './server.ts';
import type { Wire, WireAnswer } from './wire.ts';

const error = (status: number, code: string): WireAnswer => ({
  status,
  body: { request_id: 'r-1', code, message: 'In detail.' },
});
const task = (task_status: string, rest: Record<string, unknown> = {}): WireAnswer => ({
  status: 200,
  body: {
    request_id: 'r-1',
    output: { task_id: 'task-1', task_status, submit_time: '2026-11-20 17:00:00.000', ...rest },
  },
});
const images = (...content: unknown[]): WireAnswer => ({
  status: 200,
  body: {
    request_id: 'r-1',
    output: { choices: [{ finish_reason: 'stop', message: { role: 'assistant', content } }] },
  },
});

/** How Alibaba Cloud Model Studio speaks. */
export const MODELSTUDIO_WIRE: Wire = {
  name: 'Model Studio',
  Adapter: ModelStudio,
  requests: { task: aVideoRequest(), synchronous: anImageRequest() },
  errors: {
    content: error(400, 'DataInspectionFailed'),
    invalid: error(400, 'InvalidParameter'),
    access: [error(401, 'InvalidApiKey'), error(403, 'AccessDenied'), error(400, 'Arrearage')],
    throttled: error(429, 'Throttling.RateQuota'),
    broken: error(500, 'InternalError'),
  },
  refusedContent: FAILURE.content,
  created: (task_id) => ({
    status: 200,
    body: { request_id: 'r-1', output: { task_id, task_status: 'PENDING' } },
  }),
  images: (...urls) => images(...urls.map((image) => ({ image }))),
  taskPath: (id) => `/api/v1/tasks/${id}`,
  tasks: {
    waiting: [task('PENDING'), task('RUNNING')],
    done: (video_url) => task('SUCCEEDED', { video_url, orig_prompt: 'waves' }),
    empty: task('SUCCEEDED'),
    failed: {
      content: task('FAILED', { code: 'DataInspectionFailed', message: 'In detail.' }),
      invalid: task('FAILED', { code: 'InvalidParameter.FileDownload', message: 'In detail.' }),
      broken: task('FAILED', { code: 'InternalError', message: 'In detail.' }),
    },
    timedOut: task('FAILED', { code: 'InternalError.Timeout' }),
    cancelled: task('CANCELED'),
    unheardOf: task('SUSPENDED'),
    unknown: task('UNKNOWN'),
  },
  cancel: {
    method: 'POST',
    path: (id) => `/api/v1/tasks/${id}/cancel`,
    done: { status: 200, body: { request_id: 'r-1' } },
    refused: error(400, 'UnsupportedOperation'),
    code: 'UnsupportedOperation',
  },
  same: {
    creation: [
      [
        images({ image: 'https://a' }),
        images({ image: 'https://a', text: null }, { image: null }, { image: '' }),
      ],
      [
        images({ image: 'https://a' }),
        {
          status: 200,
          body: {
            ...{ code: null, message: null },
            output: {
              task_id: null,
              choices: [
                { message: { content: [{ image: 'https://a' }] } },
                { message: null },
                { message: { content: null } },
              ],
            },
          },
        },
      ],
    ],
    query: [
      [task('RUNNING'), task('RUNNING', { code: null, choices: null, video_url: null })],
      [task('RUNNING'), task('RUNNING', { code: '' })],
      [task('SUCCEEDED'), task('SUCCEEDED', { code: '', choices: [{ message: null }], video_url: '' })],
      [task('SUCCEEDED'), task('SUCCEEDED', { code: null, choices: null, video_url: null })],
      [task('FAILED'), task('FAILED', { code: null, message: null })],
      [task('FAILED'), task('FAILED', { code: '' })],
    ],
  },
  callsBackFor: [],
};
