import { hash, randomUUID } from 'node:crypto';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { tooManyAtOnce, withSlots } from '../../core/concurrency/in-flight.ts';
import { waitingLimits } from '../../core/concurrency/waiting-limits.ts';
import {
  digestOfCall,
  endWait,
  type Held,
  type LongCall,
  readHeld,
  takeRequest,
} from '../../core/creation/collection.ts';
import { createForCall, type FileStore } from '../../core/creation/create-for-call.ts';
import type { NewImageRequest } from '../../core/creation/create-image-rules.ts';
import { imageSubmission, type Submission } from '../../core/creation/submission.ts';
import { requiredEnv, requiredNumberEnv } from '../../core/environment.ts';
import { NotFoundError } from '../../core/errors.ts';
import { fileUrl, toHandle } from '../../core/files/file-handles.ts';
import { isTerminal, type StoredRequest } from '../../core/requests/request-rules.ts';
import { type OpenAiEndpointName, routeText } from '../../core/routes.ts';
import { sleep, systemClock, type WaitingClock } from '../../core/time.ts';
import { nameUpload, type OwnUpload } from '../../core/uploads/own-upload.ts';
import { type ApiRequest, wrongFields } from '../http/api-request.ts';
import { authorizeKey, identifyCaller } from '../http/authorize.ts';
import { imageHeaders, imagesResponse } from './answer.ts';
import { stillMakingResponse } from './errors.ts';
import { loadNamedModels } from './models.ts';
import { type ImageParameters, readParameters } from './parameters.ts';
import type { AskedImages, FormFile } from './read-calls.ts';
import { withEvents } from './stream-images.ts';

/** An endpoint for images: how its calls are read, and where their files are stored. */
export interface ImageEndpoint {
  name: OpenAiEndpointName;
  /** Reads a call. Throws `ValidationError` for a body that cannot be read. */
  read: (request: ApiRequest) => Promise<AskedImages>;
  /** Absent where calls have no files. */
  files?: FileStore;
}

/** The pauses between checks of a request; the last one repeats. */
const PAUSES_MS = [300, 600, 1_000] as const;
/** A slot outlasts the wait by as much as its function may run longer. */
const SENDING_SECONDS = 60;
/** Most images take some seconds. */
const RETRY_AFTER_SECONDS = 5;

/**
 * Creates a request for images and waits for its end. 200 with the images, or at once with a stream of events; 408 when the
 * images take longer, or another call has taken the request over. Throws the errors of a creation, the request's own failure, and
 * `NotFoundError` for a deleted request. Throws `ServiceError` with `rate_limited` when too many calls wait.
 */
export const makeImages = async (
  request: ApiRequest,
  endpoint: ImageEndpoint,
  clock: WaitingClock = { ...systemClock, sleep },
): Promise<APIGatewayProxyResult> => {
  const caller = await authorizeKey(identifyCaller(request), 'generations:write', request.now);
  const { account } = caller;
  const waitSeconds = requiredNumberEnv('OPENAI_WAIT_SECONDS');
  const limit = {
    slots: requiredNumberEnv('OPENAI_WAITING'),
    leaseSeconds: waitSeconds + SENDING_SECONDS,
    inAll: Number(requiredEnv('OPENAI_WAITING_IN_ALL')) || undefined,
  };
  const limits = await waitingLimits('openai', account.accountId, limit, request.now);
  const full = () => tooManyAtOnce('Too many calls wait for images at once.', RETRY_AFTER_SECONDS);
  const event = endpoint.files ? 'image_edit.completed' : 'image_generation.completed';
  return withEvents(event, clock, (open) =>
    withSlots(limits, clock, full, async () => {
      const { submission, call, uploads, parameters } = await received(request, caller, endpoint);
      const files = { uploads, ...endpoint.files };
      const held =
        (await earlier(call, submission.ok, clock)) ??
        (await createForCall(account, submission, call, files));
      if (!held) return stillMakingResponse(undefined);
      const until = new Date(request.now.getTime() + waitSeconds * 1000);
      const clockOfWait = parameters.isStreamed ? open(imageHeaders(held.requestId, parameters)) : clock;
      return awaitImages(held, until, parameters, clockOfWait);
    }),
  );
};

/** A read call: its submission, its identity for retries, and its files. */
interface ReceivedCall {
  submission: Submission<NewImageRequest>;
  call: LongCall;
  uploads: OwnUpload[];
  parameters: ImageParameters;
}

const received = async (
  request: ApiRequest,
  { account, apiKey }: Awaited<ReturnType<typeof authorizeKey>>,
  { name, read }: ImageEndpoint,
): Promise<ReceivedCall> => {
  const { accountId } = account;
  const { now } = request;
  const asked = await read(request);
  const models = await loadNamedModels('image', account, now);
  const parameters = readParameters(asked.given, { defaultEndUser: apiKey.defaultEndUser, models });
  const { uploads, references } = namedUploads(asked.images, accountId, now);
  const route = routeText(name);
  const wrong = wrongFields(() => request.idempotencyKey());
  const sent = { given: asked.given, images: asked.images.map(digestOfImage) };
  const submission = imageSubmission({
    ...{ route, sent, keyId: apiKey.keyId, now },
    body: { ok: true, body: { ...parameters.body, references } },
    idempotencyKey: request.header('Idempotency-Key'),
    fields: { ...parameters.fields, ...asked.fields, ...wrong },
  });
  const call = longCallOf(request, submission, { accountId, kind: 'image', route, sent });
  return { submission, call, uploads, parameters };
};

/** The call by which a creation is known: its `Idempotency-Key`, or API key, route and what was sent. */
export const longCallOf = (
  request: ApiRequest,
  { idempotency, ok, keyId }: Submission,
  { accountId, kind, route, sent }: Pick<LongCall, 'accountId' | 'kind'> & { route: string; sent: unknown },
): LongCall => ({
  ...{ accountId, kind, retry: retryOf(request), waiter: randomUUID() },
  digest: idempotency?.keyDigest ?? (ok ? digestOfCall(keyId, route, sent) : ''),
  isKeyed: idempotency !== undefined,
});

/** The count of retries that OpenAI's clients send with a call. */
const retryOf = (request: ApiRequest): number => {
  const text = request.header('X-Stainless-Retry-Count') ?? '';
  return /^\d{1,4}$/.test(text) ? Number(text) : 0;
};

export const digestOfImage = (image: FormFile | string): string =>
  typeof image === 'string' ? toHandle(image) : `sha256:${hash('sha256', image.bytes)}`;

export const namedUploads = (
  images: readonly (FormFile | string)[],
  accountId: string,
  now: Date,
): { uploads: OwnUpload[]; references: string[] } => {
  const named = images.map((image) =>
    typeof image === 'string' ? image : nameUpload(image.bytes, accountId, now),
  );
  return {
    uploads: named.filter((one) => typeof one !== 'string'),
    references: named.map((one) => (typeof one === 'string' ? one : fileUrl(one.objectKey))),
  };
};

/**
 * The request of an earlier, equal call, which this one takes. A retry that finds no request searches again for 2 s: the first
 * call of the client may arrive later if its connection broke at once.
 */
export const earlier = async (
  call: LongCall,
  isValid: boolean,
  clock: WaitingClock,
): Promise<Held | undefined> => {
  if (call.isKeyed || !isValid) return undefined;
  for (const pause of [0, ...PAUSES_MS]) {
    if (pause > 0 && call.retry === 0) break;
    if (pause > 0) await clock.sleep(pause);
    const found = await takeRequest(call, clock.now());
    if (found) return found;
  }
  return undefined;
};

/**
 * Polls a request until its end, and answers with its images. 408 when the request takes longer, or another call has taken the
 * request over. A call that ends in any way but the request's own leaves the request to an equal call. Throws what the request
 * failed with, and `NotFoundError` when it was deleted.
 */
const awaitImages = async (
  held: Held,
  until: Date,
  parameters: ImageParameters,
  clock: WaitingClock,
): Promise<APIGatewayProxyResult> => {
  try {
    for (let checks = 0; ; checks++) {
      const { isOwn, request } = await readHeld(held);
      if (!isOwn && !held.isGiven) return stillMakingResponse(held.requestId);
      if (!request || isTerminal(request)) return await answer(held, request, parameters, clock);
      if (clock.now() >= until) break;
      await clock.sleep(PAUSES_MS[checks] ?? PAUSES_MS[2]);
    }
    await endWait(held, 'released', clock.now());
    return stillMakingResponse(held.requestId);
  } catch (error) {
    await endWait(held, 'released', clock.now());
    throw error;
  }
};

/** The answer of a request that has ended, or was deleted: with URLs where its images were answered before. */
const answer = async (
  held: Held,
  request: StoredRequest | undefined,
  parameters: ImageParameters,
  clock: WaitingClock,
): Promise<APIGatewayProxyResult> => {
  const end = async () => held.isGiven || endWait(held, 'answered', clock.now());
  if (request?.status !== 'succeeded') await end();
  if (!request) throw new NotFoundError(`The request ${held.requestId} was deleted.`);
  const form = held.isGiven ? { ...parameters, responseFormat: 'url' as const } : parameters;
  const response = await imagesResponse(request, form, clock.now());
  return (await end()) ? response : stillMakingResponse(held.requestId);
};
