import { createFalSigning } from '../../../../packages/sandbox/src/fal/signing.ts';
import { type HttpAnswer, jsonAnswer } from './http.ts';

/** The endpoint of the model that has its first route at fal, without its last part: no real one, as fal's own does not take all sizes alone. */
export const FAL_MODEL = 'bytedance/seedream/v5/all-sizes';
/** How many images one call to fal makes at most: of more the service makes several calls, each with a task. */
const IMAGES_OF_CALL = 6;
/** How many calls to fal so many images are. */
export const falCallsOf = (images: number): number => Math.ceil(images / IMAGES_OF_CALL);

/** How far from the right one a signature is: by a foreign key, of another body, ten minutes old, of another task, or missing. */
export const FORGERIES = ['unsigned', 'foreign-key', 'other-body', 'stale'] as const;
export type Forgery = (typeof FORGERIES)[number];

/** Headers and body of a callback. */
export interface CallbackContent {
  headers: Record<string, string>;
  body: string;
}

const STALE_MS = 600_000;
let signedAt = 0;
const signing = createFalSigning(() => signedAt);

/** The keys that fal publishes. */
export const falKeys = (): HttpAnswer => jsonAnswer(200, signing.keys);

/** A callback about a task as fal sends it at an instant, or as somebody else would. */
export const falCallback = (id: string, now: number, forgery?: Forgery): CallbackContent => {
  const body = JSON.stringify({ request_id: id, gateway_request_id: id, status: 'OK', error: null });
  if (forgery === 'unsigned') return { headers: {}, body };
  signedAt = forgery === 'stale' ? now - STALE_MS : now;
  const headers = signing.headersOf(id, body, forgery === 'foreign-key');
  return { headers, body: forgery === 'other-body' ? body.replace('OK', 'ERROR') : body };
};

/** The state of a task: a failed one reads as completed, and its result says the rest. */
export const falState = (id: string, isDone: boolean): HttpAnswer =>
  jsonAnswer(isDone ? 200 : 202, { status: isDone ? 'COMPLETED' : 'IN_PROGRESS', request_id: id });

/** The result of a task that has come to its end, given the code of the error with which it failed. */
export const falResult = (urls: readonly string[], failure: string | undefined): HttpAnswer => {
  if (failure === undefined) return jsonAnswer(200, { images: urls.map((url) => ({ url })) });
  const status = failure === 'internal_server_error' ? 500 : 422;
  return jsonAnswer(status, { detail: [{ type: failure, msg: '', loc: ['body', 'prompt'] }] });
};
