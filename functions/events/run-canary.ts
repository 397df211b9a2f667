import { buffer, text } from 'node:stream/consumers';
import * as z from 'zod/mini';
import { requiredEnv, userAgent } from '../../core/environment.ts';
import { exchange } from '../../core/http-exchange.ts';
import { successorIn } from '../../core/models/retirement.ts';
import { countMetric, logger, METRIC, measure } from '../../core/observability.ts';
import { readSecret } from '../../core/secrets.ts';
import { type Clock, sleep, systemClock } from '../../core/time.ts';
import { eventHandler } from '../event-handler.ts';

/** Time limit for one image, queue included; a run has 5 min. */
const PATIENCE_MS = 240_000;
const LOOK_EVERY_MS = 2_000;
const CALL_TIMEOUT_MS = 30_000;

/** The end-user of the canary's requests. */
const EMAIL = 'canary@example.com';

const Created = z.object({ requestId: z.string() });
const Read = z.object({
  status: z.string(),
  images: z.optional(z.array(z.object({ url: z.optional(z.string()) }))),
  error: z.optional(z.object({ code: z.string() })),
});

const Refusal = z.object({ error: z.object({ fields: z.object({ model: z.string() }) }) });

/** The service failed a step of the canary, which the message names. */
class CanaryError extends Error {
  override name = 'CanaryError';
  /** The model that the service named in place of a retired one. */
  readonly successor: string | undefined;

  constructor(message: string, successor?: string) {
    super(message);
    this.successor = successor;
  }
}

type Call = (method: string, path: string, wanted: number, body?: object) => Promise<unknown>;

/** Calls the API with the canary's key. Throws `CanaryError` on another status than the wanted one. */
const caller = (key: string): Call => {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'user-agent': userAgent(),
  };
  return async (method, path, wanted, body) => {
    const { statusCode, body: answer } = await exchange(new URL(requiredEnv('PUBLIC_BASE_URL') + path), {
      method,
      headers,
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    });
    const read = await text(answer);
    if (statusCode !== wanted) {
      const { data: refused } = Refusal.safeParse(statusCode === 400 ? parsedOrUndefined(read) : undefined);
      throw new CanaryError(
        `${method} ${path} was answered with ${statusCode}.`,
        refused && successorIn(refused.error.fields.model),
      );
    }
    const parsed = parsedOrUndefined(read);
    if (parsed === undefined)
      throw new CanaryError(`${method} ${path} was answered with ${statusCode}, but not with JSON.`);
    return parsed;
  };
};

/** The value of a JSON text. Undefined for any other text, such as the page of a gateway. */
const parsedOrUndefined = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/**
 * Makes one image as a caller does: creates a request, polls until the end, fetches the file, and deletes the request with its
 * file. Reports success and the seconds to the file. A failure is logged and reported, not thrown: Lambda would repeat the run.
 */
export const runCanary = async (
  clock: Clock = systemClock,
  pause: (milliseconds: number) => Promise<unknown> = sleep,
): Promise<void> => {
  const startedMs = clock.now().getTime();
  try {
    const call = caller(await readSecret(requiredEnv('CANARY_KEY_SECRET_ARN')));
    const { requestId } = await create(call, requiredEnv('CANARY_MODEL'));
    logger.appendKeys({ requestId });
    const path = `/v1/generations/${requestId}`;
    await fetchFile(await waitForUrl(call, path, startedMs + PATIENCE_MS, { clock, pause }));
    measure(METRIC.canarySeconds, {}, (clock.now().getTime() - startedMs) / 1000);
    await call('DELETE', path, 200);
    countMetric(METRIC.canarySucceeded, {});
  } catch (error) {
    logger.error('the canary failed', { error: error as Error });
    countMetric(METRIC.canarySucceeded, {}, 0);
  }
};

/** Creates the request, with the successor of a model that was retired. */
const create = async (call: Call, model: string): Promise<z.infer<typeof Created>> => {
  const body = { model, prompt: 'A canary in a lighthouse', endUserEmail: EMAIL };
  try {
    return Created.parse(await call('POST', '/v1/generations', 202, body));
  } catch (error) {
    const successor = error instanceof CanaryError ? error.successor : undefined;
    if (successor === undefined || successor === model) throw error;
    logger.warn("the canary's model was retired: set another", { model, successor });
    return create(call, successor);
  }
};

const waitForUrl = async (
  call: Call,
  path: string,
  untilMs: number,
  { clock, pause }: { clock: Clock; pause: (milliseconds: number) => Promise<unknown> },
): Promise<string> => {
  while (clock.now().getTime() < untilMs) {
    const { status, images, error } = Read.parse(await call('GET', path, 200));
    const url = images?.[0]?.url;
    if (status === 'succeeded' && url !== undefined) return url;
    if (status !== 'queued' && status !== 'processing') {
      throw new CanaryError(`The request ended as ${status} (${error?.code ?? 'no file'}).`);
    }
    await pause(LOOK_EVERY_MS);
  }
  throw new CanaryError('The request did not end in time.');
};

const fetchFile = async (url: string): Promise<void> => {
  const { statusCode, headers, body } = await exchange(new URL(url), {
    method: 'GET',
    headers: { 'user-agent': userAgent() },
    signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
  });
  const { byteLength } = await buffer(body);
  const isImage = headers['content-type']?.startsWith('image/') && byteLength > 0;
  if (statusCode !== 200 || !isImage) {
    throw new CanaryError(
      `The file was answered with ${statusCode}, ${headers['content-type']}, ${byteLength} bytes.`,
    );
  }
};

/** Makes one image through the public API and reports how that went. A run out of time has failed. */
export const handler = eventHandler<void>(
  () => runCanary(),
  () => countMetric(METRIC.canarySucceeded, {}, 0),
);
