import { ModelArk } from '../../../../providers/modelark/modelark.ts';
import { anImageRequest, aVideoRequest } from '../../builders/entities.ts';
import { FAILURE } from './server.ts';
import type { Wire, WireAnswer } from './wire.ts';

const error = (status: number, code: string): WireAnswer => ({
  status,
  body: { error: { code, message: 'In detail. Request id: 02', type: 'BadRequest', param: '' } },
});
const task = (status: string, rest: Record<string, unknown> = {}): WireAnswer => ({
  status: 200,
  body: {
    ...{ id: 'cgt-1', model: 'seedance', status },
    ...{ created_at: 1_795_000_000, updated_at: 1_795_000_060 },
    ...rest,
  },
});
const hasUrl = (item: unknown): boolean => Boolean((item as { url?: unknown } | null)?.url);
const images = (...data: unknown[]): WireAnswer => ({
  status: 200,
  body: {
    model: 'seedream',
    created: 1_795_000_000,
    data,
    usage: { generated_images: data.filter(hasUrl).length },
  },
});
const PATH = '/contents/generations/tasks';

/** How BytePlus ModelArk speaks. */
export const MODELARK_WIRE: Wire = {
  name: 'ModelArk',
  Adapter: ModelArk,
  requests: { task: aVideoRequest(), synchronous: anImageRequest() },
  errors: {
    content: error(400, 'InputTextSensitiveContentDetected'),
    invalid: error(400, 'InvalidParameter'),
    access: [error(401, 'AuthenticationError'), error(403, 'AccountOverdueError')],
    throttled: error(429, 'ServerOverloaded'),
    broken: error(500, 'InternalServiceError'),
  },
  refusedContent: FAILURE.output,
  created: (id) => ({ status: 200, body: { id } }),
  countsImages: true,
  images: (...urls) => images(...urls.map((url) => ({ url, size: '2048x2048' }))),
  partial: (url) =>
    images(
      { error: { code: 'OutputImageSensitiveContentDetected', message: 'In detail.' } },
      { url, size: '2048x2048' },
      { error: { code: 'InternalServiceError', message: 'In detail.' } },
    ),
  taskPath: (id) => `${PATH}/${id}`,
  tasks: {
    waiting: [task('queued'), task('running', { content: null, error: null })],
    done: (url) => task('succeeded', { content: { video_url: url, last_frame_url: null } }),
    empty: task('succeeded'),
    failed: {
      content: task('failed', {
        error: { code: 'OutputVideoSensitiveContentDetected', message: 'In detail.' },
      }),
      invalid: task('failed', { error: { code: 'InvalidParameter.image', message: 'In detail.' } }),
      broken: task('failed', { error: { code: 'InternalServiceError', message: 'In detail.' } }),
    },
    timedOut: task('expired'),
    cancelled: task('cancelled'),
    unheardOf: task('paused'),
    unknown: error(404, 'NotFound.id'),
  },
  cancel: {
    method: 'DELETE',
    path: (id) => `${PATH}/${id}`,
    done: { status: 200, body: {} },
    refused: error(409, 'InvalidAction.RunningTaskDeletion'),
    code: 'InvalidAction.RunningTaskDeletion',
  },
  same: {
    creation: [
      [images({ url: 'https://a' }), images({ url: 'https://a', error: null, size: null })],
      [
        images({ url: 'https://a' }, { error: {} }),
        images({ url: 'https://a' }, { url: null, error: { code: null } }),
      ],
      [images({ url: 'https://a' }, { error: {} }), images({ url: 'https://a' }, { url: '', error: null })],
      [
        error(400, 'InvalidParameter'),
        { status: 400, body: { error: { code: 'InvalidParameter', message: null } } },
      ],
    ],
    query: [
      [task('running'), task('running', { content: null, error: null, usage: null })],
      ...[null, {}, { video_url: null }, { video_url: '' }].map((content): [WireAnswer, WireAnswer] => [
        task('succeeded'),
        task('succeeded', { content }),
      ]),
      ...[null, { code: null, message: null }].map((none): [WireAnswer, WireAnswer] => [
        task('failed'),
        task('failed', { error: none }),
      ]),
    ],
  },
  callsBackFor: ['video'],
};
