import { aVideoRequest } from '../../builders/entities.ts';
import type { Wire, WireAnswer } from '../conformance/wire.ts';
import { Relay } from './relay.ts';

const refusal = (status: number, title: string): WireAnswer => ({
  status,
  body: { title, detail: 'In detail.', status },
});
const prediction = (status: string, rest: Record<string, unknown> = {}): WireAnswer => ({
  status: 200,
  body: { id: 'p-1', version: 'model', status, output: null, error: null, logs: '', ...rest },
});

/** How the third provider speaks. */
export const RELAY_WIRE: Wire = {
  name: 'a third provider',
  Adapter: Relay,
  requests: { task: aVideoRequest() },
  errors: {
    content: refusal(422, 'Input was flagged'),
    invalid: refusal(422, 'Input validation failed'),
    access: [refusal(401, 'Unauthenticated'), refusal(402, 'Insufficient credit')],
    throttled: refusal(429, 'Request was throttled'),
    broken: refusal(500, 'Internal server error'),
  },
  created: (id) => ({ ...prediction('starting', { id }), status: 201 }),
  taskPath: (id) => `/predictions/${id}`,
  tasks: {
    waiting: [prediction('starting'), prediction('processing', { logs: '40 %' })],
    done: (...output) => prediction('succeeded', { output }),
    empty: prediction('succeeded', { output: [] }),
    failed: {
      content: prediction('failed', { error: 'E005: flagged. In detail.' }),
      invalid: prediction('failed', { error: 'E006: invalid input. In detail.' }),
      broken: prediction('failed', { error: 'CUDA out of memory. In detail.' }),
    },
    timedOut: prediction('aborted'),
    cancelled: prediction('canceled'),
    unheardOf: prediction('queued'),
    unknown: refusal(404, 'Not found'),
  },
  cancel: {
    method: 'POST',
    path: (id) => `/predictions/${id}/cancel`,
    done: prediction('canceled'),
    refused: refusal(409, 'Prediction has ended'),
    code: 'Prediction has ended',
  },
  same: {
    creation: [[prediction('starting'), { status: 201, body: { id: 'p-1', status: 'starting' } }]],
    query: [
      [prediction('processing'), { status: 200, body: { id: 'p-1', status: 'processing' } }],
      [prediction('failed'), { status: 200, body: { id: 'p-1', status: 'failed', error: '' } }],
    ],
  },
  callback: (id) => ({ id, status: 'succeeded', output: ['https://a'] }),
};
