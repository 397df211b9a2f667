import { Fal } from '../../../../providers/fal/fal.ts';
import { aVideoRequest } from '../../builders/entities.ts';
import { FAILURE } from './server.ts';
import type { Wire, WireAnswer } from './wire.ts';

const HOST = 'https://queue.fal.run/creations/new/requests';
const state = (status: string, rest: Record<string, unknown> = {}): WireAnswer => ({
  status: status === 'COMPLETED' ? 200 : 202,
  body: {
    ...{ status, request_id: 'task-1', response_url: `${HOST}/task-1`, status_url: `${HOST}/task-1/status` },
    ...{ cancel_url: `${HOST}/task-1/cancel`, logs: null, metrics: {} },
    ...rest,
  },
});
/** An error of a model. */
const modelError = (status: number, type: string): WireAnswer => ({
  status,
  body: { detail: [{ loc: ['body', 'prompt'], msg: 'In detail.', type, url: 'https://docs.fal.ai/errors' }] },
});
/** An error of the platform; without a type as at submit, where our key or account is refused. */
const platformError = (status: number, error_type?: string): WireAnswer => ({
  status,
  body: { detail: 'In detail.', ...(error_type !== undefined && { error_type }) },
});
/** The result of a request that has ended. */
const completed = (result: WireAnswer, rest: Record<string, unknown> = {}): WireAnswer => ({
  ...result,
  first: { pathEnd: '/status', answer: state('COMPLETED', { metrics: { inference_time: 3 }, ...rest }) },
});
const output = (body: Record<string, unknown>): WireAnswer => completed({ status: 200, body });
const video = (url: string | null) => ({ url, content_type: 'video/mp4', file_size: null, duration: null });

/** How fal.ai's queue speaks. */
export const FAL_WIRE: Wire = {
  name: 'fal',
  Adapter: Fal,
  requests: { task: aVideoRequest() },
  errors: {
    content: modelError(422, 'content_policy_violation'),
    invalid: modelError(422, 'missing'),
    access: [platformError(401), platformError(403)],
    throttled: platformError(429, 'concurrent_requests_limit'),
    broken: platformError(500, 'internal_error'),
  },
  outcomes: [
    [
      'a bad request',
      platformError(400, 'bad_request'),
      { kind: 'failed', failure: FAILURE.input, blamesInput: true },
      'no',
    ],
    ['a full queue', platformError(429), { kind: 'busy' }, 'no'],
    ['a client that left', platformError(499, 'client_disconnected'), { kind: 'failed' }, 'unknown'],
    ['a slow client', { status: 408, body: '' }, { kind: 'failed' }, 'unknown'],
    ['a conflict', { status: 409, body: '' }, { kind: 'failed' }, 'unknown'],
    [
      'a time limit of fal',
      platformError(504, 'startup_timeout'),
      { kind: 'failed', failure: FAILURE.timeout },
      'unknown',
    ],
    ['no runner', platformError(503, 'runner_scheduling_failure'), { failure: FAILURE.error }, 'unknown'],
    ['a cut runner', platformError(502, 'runner_incomplete_response'), { failure: FAILURE.error }, 'unknown'],
    ['a plain 503', { status: 503, body: 'no' }, { kind: 'lost' }, 'unknown'],
    ['no id', { status: 200, body: { status: 'IN_QUEUE', request_id: null } }, { kind: 'lost' }, 'unknown'],
  ],
  taskId: (id) => `creations/new/${id}`,
  refusedContent: FAILURE.content,
  created: (id) => ({ ...state('IN_QUEUE', { request_id: id, queue_position: 0 }), status: 200 }),
  taskPath: (id) => [`/creations/new/requests/${id}/status`, `/creations/new/requests/${id}`],
  tasks: {
    waiting: [state('IN_QUEUE', { queue_position: 3 }), state('IN_PROGRESS', { logs: [] })],
    done: (...urls) => output({ video: video(urls[0] ?? null), seed: null, actual_prompt: null }),
    empty: output({ images: [] }),
    failed: {
      content: completed(modelError(422, 'content_policy_violation')),
      invalid: completed(modelError(422, 'image_too_small')),
      broken: completed(modelError(500, 'internal_server_error')),
    },
    timedOut: state('COMPLETED', { error: 'In detail.', error_type: 'request_timeout' }),
    cancelled: state('COMPLETED', { error: 'In detail.', error_type: 'client_cancelled' }),
    unheardOf: state('PAUSED'),
    unknown: { status: 404, body: { status: 'NOT_FOUND' } },
  },
  cancel: {
    method: 'PUT',
    path: (id) => `/creations/new/requests/${id}/cancel`,
    done: { status: 202, body: { status: 'CANCELLATION_REQUESTED' } },
    refused: { status: 400, body: { status: 'ALREADY_COMPLETED' } },
    code: 'ALREADY_COMPLETED',
  },
  same: {
    creation: [
      [
        { status: 200, body: { request_id: 'task-1' } },
        { status: 202, body: { request_id: 'task-1', logs: null, queue_position: null, metrics: null } },
      ],
    ],
    query: [
      [state('IN_PROGRESS'), state('IN_PROGRESS', { error: null, error_type: null })],
      [output({ images: [] }), output({ images: null, video: null })],
      [output({ images: [{}] }), output({ images: [{ url: null, width: null }], has_nsfw_concepts: null })],
      [output({ video: { url: 'https://a' } }), output({ video: video('https://a'), duration: null })],
    ],
  },
  callsBackFor: ['image', 'video'],
};
