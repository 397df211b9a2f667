import * as z from 'zod/mini';
import { CheckFailedError, ensure } from '../smoke/check.ts';
import { type ApiAnswer, type SmokeCaller, shown } from '../smoke/http.ts';
import { poll } from '../smoke/poll.ts';
import type { RehearsalModels } from './models.ts';

/** What the table says of a request. A caller's read would query its provider. */
export interface StoredState {
  status: string;
  /** When attempts at its webhook began, with the receiver's status, in time order. */
  webhookAttempts: { startedAt: string; status?: number | undefined }[];
}

/** The deployed service as its customer and its operator reach it. */
export interface Stage {
  caller: SmokeCaller;
  /** The customer's key. */
  key: string;
  sandboxUrl: string;
  models: RehearsalModels;
  /** Undefined once the request is deleted. */
  stored(requestId: string): Promise<StoredState | undefined>;
  /** Begins the deletion of an end-user, as a call does that dies after its first write. */
  beginDeletion(email: string): Promise<void>;
  /** Path of the callback that the provider of a video was given. */
  callbackPath(requestId: string): Promise<string>;
  /** How long slow work lasts at its provider: longer than a deployment takes. */
  workSeconds: number;
  /** Longest wait for any one thing. */
  patienceSeconds: number;
  pause(milliseconds: number): Promise<void>;
}

const PATH_OF = { image: '/v1/generations', video: '/v1/videos' } as const;
/** A kind of request. */
export type Kind = keyof typeof PATH_OF;

const Item = z.object({ url: z.optional(z.string()) });
const Record = z.object({
  requestId: z.string(),
  status: z.string(),
  error: z.optional(z.object({ code: z.string(), message: z.string() })),
  images: z.optional(z.array(Item)),
  videos: z.optional(z.array(Item)),
});

/** Between two checks. */
export const POLL_SECONDS = 1;

/** Calls the API as the customer; again for as long as it answers 429 or 503, which the contract has callers do. */
export const call = async (
  stage: Stage,
  method: string,
  path: string,
  body?: Record<string, unknown>,
): Promise<ApiAnswer> => {
  let last: ApiAnswer | undefined;
  const answer = await poll(
    stage,
    { everySeconds: POLL_SECONDS, forSeconds: stage.patienceSeconds },
    async () => {
      last = await stage.caller.call(method, path, { key: stage.key, body });
      return [429, 503].includes(last.status) ? undefined : last;
    },
  );
  if (!answer) throw new CheckFailedError(`${method} ${path} answered ${last && shown(last)} all the time.`);
  return answer;
};

/** Creates a request; its id. */
export const create = async (stage: Stage, kind: Kind, body: Record<string, unknown>): Promise<string> => {
  const answer = await call(stage, 'POST', PATH_OF[kind], body);
  const record = Record.safeParse(answer.body);
  if (answer.status !== 202 || !record.success) {
    throw new CheckFailedError(`POST ${PATH_OF[kind]} answered ${shown(answer)}.`);
  }
  return record.data.requestId;
};

/** Waits until the stored request is as wanted. Throws `CheckFailedError` with `what` when it is not in time. */
export const until = async (
  stage: Stage,
  requestId: string,
  what: string,
  isSo: (state: StoredState) => boolean,
): Promise<void> => {
  let last: StoredState | undefined;
  const found = await poll(
    stage,
    { everySeconds: POLL_SECONDS, forSeconds: stage.patienceSeconds },
    async () => {
      last = await stage.stored(requestId);
      return last && isSo(last) ? true : undefined;
    },
  );
  if (!found) throw new CheckFailedError(`${requestId} is not ${what}: ${JSON.stringify(last)}`);
};

/** Whether a request has ended. */
export const hasEnded = ({ status }: StoredState): boolean => !['queued', 'processing'].includes(status);

/** Waits until a request has ended, and checks its success and that its files are served. Returns the result in words. */
export const delivered = async (stage: Stage, kind: Kind, requestId: string): Promise<string> => {
  await until(stage, requestId, 'ended', hasEnded);
  const answer = await call(stage, 'GET', `${PATH_OF[kind]}/${requestId}`);
  const record = Record.safeParse(answer.body);
  if (answer.status !== 200 || !record.success) {
    throw new CheckFailedError(`GET of ${requestId} answered ${shown(answer)}.`);
  }
  const { status, error, images, videos } = record.data;
  ensure(status === 'succeeded', `${requestId} ${status}: ${error?.code}, ${error?.message}`);
  const urls = (images ?? videos ?? []).map(({ url }) => url);
  ensure(urls.length > 0, `${requestId} succeeded without outputs.`);
  for (const url of urls) {
    ensure(url !== undefined, `An output of ${requestId} has no URL.`);
    const file = await stage.caller.fetchFile(url ?? '');
    ensure(file.status === 200 && file.bytes.length > 0, `The file of ${requestId} answered ${file.status}.`);
  }
  return requestId;
};

/** Whether the customer finds a request. */
export const isFound = async (stage: Stage, kind: Kind, requestId: string): Promise<boolean> => {
  const answer = await call(stage, 'GET', `${PATH_OF[kind]}/${requestId}`);
  ensure([200, 404].includes(answer.status), `GET of ${requestId} answered ${shown(answer)}.`);
  return answer.status === 200;
};
