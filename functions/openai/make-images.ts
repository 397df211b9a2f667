import { hash, randomUUID } from 'node:crypto';
import type { APIGatewayProxyResult } from 'aws-lambda';
import type { Account } from '../../core/accounts/accounts.ts';
import {
  beginCall,
  collectRequest,
  digestOfCall,
  entryOf,
  giveUpCall,
  handBack,
  type LongCall,
  requestInstead,
} from '../../core/creation/collection.ts';
import type { NewImageRequest } from '../../core/creation/create-image-rules.ts';
import { createRequest } from '../../core/creation/create-request.ts';
import { loadCreationFacts } from '../../core/creation/judge-creation.ts';
import { imageSubmission, type Submission } from '../../core/creation/submission.ts';
import { type JudgedCreation, writeCreation } from '../../core/creation/write-creation.ts';
import { requiredNumberEnv } from '../../core/environment.ts';
import { ServiceError } from '../../core/errors.ts';
import { toHandle } from '../../core/files/file-handles.ts';
import { newRequestId } from '../../core/ids.ts';
import { logger } from '../../core/observability.ts';
import { isTerminal, type StoredRequest } from '../../core/requests/request-rules.ts';
import { findRequest } from '../../core/requests/requests.ts';
import { type OpenAiEndpointName, routeText } from '../../core/routes.ts';
import type { Clock } from '../../core/time.ts';
import { nameUpload, type OwnUpload } from '../../core/uploads/own-upload.ts';
import { type ApiRequest, wrongFields } from '../http/api-request.ts';
import { authorizeKey, identifyCaller } from '../http/authorize.ts';
import { imagesResponse } from './answer.ts';
import { stillMakingResponse } from './errors.ts';
import { loadImageModels } from './models.ts';
import { readParameters } from './parameters.ts';
import type { AskedImages, FormFile } from './read-calls.ts';

/** How the calls of an endpoint are read, and where their files go. */
export interface ImageEndpoint {
  name: OpenAiEndpointName;
  /** Reads a call. Throws `ValidationError` for a body that cannot be read. */
  read: (request: ApiRequest) => Promise<AskedImages>;
  /** Stores a file of a call; absent where calls have none. */
  store?: (upload: OwnUpload) => Promise<void>;
}

/** The time, and the passing of it. */
export interface Pace extends Clock {
  sleep(milliseconds: number): Promise<void>;
}

/** The machine's time. */
const systemPace: Pace = {
  now: () => new Date(),
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
};

const LOOK_EVERY_MS = 1_000;
/** A retry that finds nothing looks twice more: its first call may not have begun, when its connection broke at once. */
const LOOKS_FOR_FIRST_CALL = 3;

/**
 * Makes images as `POST /v1/generations` does and waits for them. 200 with the images; 408 when they take longer: a retry of the call
 * collects them. Throws the errors of a creation, and what the request failed with.
 */
export const makeImages = async (
  request: ApiRequest,
  { name, read, store }: ImageEndpoint,
  pace: Pace = systemPace,
): Promise<APIGatewayProxyResult> => {
  const { account, apiKey } = await authorizeKey(identifyCaller(request), 'generations:write', request.now);
  const asked = await read(request);
  const { accountId } = account;
  const { now } = request;
  const models = await loadImageModels(account, now);
  const parameters = readParameters(asked.given, { defaultEndUser: apiKey.defaultEndUser, models });
  const { uploads, references } = namedUploads(asked.images, accountId, now);
  const route = routeText(name);
  const wrong = wrongFields(() => request.idempotencyKey());
  const sent = { given: asked.given, images: asked.images.map(digestOfImage) };
  const submission = imageSubmission({
    route,
    body: { ok: true, body: { ...parameters.body, references } },
    sent,
    idempotencyKey: request.header('Idempotency-Key'),
    keyId: apiKey.keyId,
    fields: { ...parameters.fields, ...asked.fields, ...wrong },
    now,
  });
  const call =
    submission.ok && !submission.idempotency
      ? {
          accountId,
          digest: digestOfCall(apiKey.keyId, route, sent),
          retry: retryOf(request),
          attempt: randomUUID(),
        }
      : undefined;
  const until = new Date(now.getTime() + requiredNumberEnv('OPENAI_WAIT_SECONDS') * 1000);
  const earlier = await collected(call, until, pace);
  if (earlier === 'being written') return stillMakingResponse();
  const storeFiles = async (): Promise<void> => {
    if (store) await Promise.all(uploads.map(store));
  };
  let found = earlier ?? (await created(account, submission, call, storeFiles));
  for (;;) {
    const ended = await awaitEnd(found, until, pace);
    if (!ended) {
      if (call) await handBack(call, found.requestId);
      return stillMakingResponse();
    }
    const instead = call && (await requestInstead(call, found.requestId, pace.now()));
    if (!instead) return imagesResponse(ended, parameters, pace.now());
    found = instead;
  }
};

/** How often the client has sent this call before, as OpenAI's clients count. */
const retryOf = (request: ApiRequest): number => {
  const text = request.header('X-Stainless-Retry-Count') ?? '';
  return /^\d{1,4}$/.test(text) ? Number(text) : 0;
};

const digestOfImage = (image: FormFile | string): string =>
  typeof image === 'string' ? toHandle(image) : `sha256:${hash('sha256', image.bytes)}`;

const namedUploads = (
  images: readonly (FormFile | string)[],
  accountId: string,
  now: Date,
): { uploads: OwnUpload[]; references: string[] } => {
  const named = images.map((image) =>
    typeof image === 'string' ? image : nameUpload(image, accountId, now),
  );
  return {
    uploads: named.filter((one) => typeof one !== 'string'),
    references: named.map((one) => (typeof one === 'string' ? one : one.url)),
  };
};

/** The request of an earlier attempt of this call, if it is a retry and there is one; waits for an attempt that is about to write. */
const collected = async (
  call: LongCall | undefined,
  until: Date,
  pace: Pace,
): Promise<StoredRequest | 'being written' | undefined> => {
  if (!call || call.retry === 0) return undefined;
  for (let look = 1; ; look++) {
    const found = await collectRequest(call, pace.now());
    const isLast = found === 'being written' ? pace.now() >= until : found || look >= LOOKS_FOR_FIRST_CALL;
    if (isLast) return found;
    await pace.sleep(LOOK_EVERY_MS);
  }
};

/**
 * Creates the request once nothing refuses it, its files stored before: a refused call stores none. A call that can be retried says so
 * before the content filter and its files, which take seconds.
 */
const created = async (
  account: Account,
  submission: Submission<NewImageRequest>,
  call: LongCall | undefined,
  storeFiles: () => Promise<void>,
): Promise<StoredRequest> => {
  const { now } = submission;
  const requestId = newRequestId('image', now);
  const write = async (judged: JudgedCreation) => {
    await storeFiles();
    if (!call) return writeCreation(judged);
    const outcome = await writeCreation({ ...judged, idempotency: entryOf(call, requestId) });
    // A retry has given this call up, and makes the images.
    if (outcome.kind === 'repeated')
      throw new ServiceError('temporarily_unavailable', 'The request could not be written in time.');
    return outcome;
  };
  if (call) await beginCall(call, requestId, now);
  try {
    const facts = await loadCreationFacts(account.accountId, submission);
    return (await createRequest(account, submission, facts, write, requestId)).request;
  } catch (error) {
    // A retry only waits longer when this fails.
    if (call)
      await giveUpCall(call, requestId, now).catch((cause: Error) =>
        logger.warn('a refused call could not be noted', { requestId, error: cause }),
      );
    throw error;
  }
};

/** Looks at a request each second. Undefined when it has not ended by then. */
const awaitEnd = async (
  request: StoredRequest,
  until: Date,
  pace: Pace,
): Promise<StoredRequest | undefined> => {
  let seen = request;
  while (!isTerminal(seen)) {
    if (pace.now() >= until) return undefined;
    await pace.sleep(LOOK_EVERY_MS);
    seen = (await findRequest(request.requestId)) ?? seen;
  }
  return seen;
};
