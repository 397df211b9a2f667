import { text } from 'node:stream/consumers';
import * as z from 'zod/mini';
import { userAgent } from '../core/environment.ts';
import { exchange } from '../core/http-exchange.ts';
import { logger } from '../core/observability.ts';
import type { ProviderId } from '../core/provider-names.ts';

/** A provider's HTTP response, or why there is none. */
export type HttpAnswer =
  /**
   * `retryAfterSeconds` is a valid `Retry-After`, `providerRequestId` the provider's own id of the call, and `errorType` an error code in a
   * header.
   */
  | {
      kind: 'answered';
      status: number;
      body: unknown;
      retryAfterSeconds?: number | undefined;
      providerRequestId?: string | undefined;
      errorType?: string | undefined;
    }
  /** No connection was made, TLS included: the provider has not received the call. */
  | { kind: 'unreached'; reason: string }
  /** The caller's signal ended the call. */
  | { kind: 'timed-out' }
  /** The connection broke after the call was sent: the provider may have received it. */
  | { kind: 'broken'; reason: string };
export type Answered = Extract<HttpAnswer, { kind: 'answered' }>;

/**
 * Answers are a few KB. Longest answer that is read: a longer answer could exhaust the memory of a process that serves every
 * other task.
 */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * Sends JSON and reads JSON. Never rejects for a network fault or an HTTP status. Has no time limit of its
 * own: a synchronous image call runs for minutes, and the caller's signal limits it. Reuses no connection: a
 * creation sent on a connection that the provider has just closed would be lost.
 */
export const callProvider = async (
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  url: string,
  options: { headers: Record<string, string>; body?: Record<string, unknown>; signal: AbortSignal },
): Promise<HttpAnswer> => {
  let isConnected = false;
  try {
    const { statusCode, headers, body } = await exchange(new URL(url), {
      method,
      headers: { 'content-type': 'application/json', 'user-agent': userAgent(), ...options.headers },
      body: JSON.stringify(options.body),
      signal: options.signal,
      maxResponseBytes: MAX_ANSWER_BYTES,
      onConnected: () => {
        isConnected = true;
      },
    });
    const retryAfterSeconds = retryAfterOf(headers['retry-after'], new Date());
    const parsed = readText(await text(body));
    const providerRequestId = providerRequestIdOf(headers['x-request-id'], parsed);
    const errorType = callIdIn(headers['x-fal-error-type']);
    return {
      ...{ kind: 'answered', status: statusCode, body: parsed },
      ...{ retryAfterSeconds, providerRequestId, errorType },
    };
  } catch (error) {
    if (options.signal.aborted) return { kind: 'timed-out' };
    const code = String((error as { code?: unknown }).code ?? (error as Error).name);
    return { kind: isConnected ? 'broken' : 'unreached', reason: code };
  }
};

/** An id of a call, and nothing else that a server might send: it goes to the log. */
const CALL_ID = /^[\w.:-]{1,100}$/;

/** The provider's own id of a call: in the header `X-Request-Id`, else in the body's `request_id`. */
const providerRequestIdOf = (header: string | string[] | undefined, body: unknown): string | undefined => {
  const told =
    typeof body === 'object' && body !== null && 'request_id' in body ? body.request_id : undefined;
  return [header, told].map(callIdIn).find((id) => id !== undefined);
};

const callIdIn = (value: unknown): string | undefined =>
  typeof value === 'string' && CALL_ID.test(value) ? value : undefined;

/** Cap of `Retry-After`: longer than any deadline, and far below the largest valid date. */
const MAX_RETRY_AFTER_SECONDS = 86_400;
/** The three forms of a date in HTTP begin with the day of the week. `Date.parse` would read `1.5` as a date, too. */
const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/;

/**
 * The seconds of a `Retry-After` header, given as seconds or as a date (RFC 9110, 10.2.3), at most a day. Undefined for
 * anything else.
 */
const retryAfterOf = (header: string | string[] | undefined, now: Date): number | undefined => {
  if (typeof header !== 'string') return undefined;
  if (/^\d+$/.test(header)) return Math.min(Number(header), MAX_RETRY_AFTER_SECONDS);
  const milliseconds = HTTP_DATE.test(header) ? Date.parse(header) - now.getTime() : Number.NaN;
  if (Number.isNaN(milliseconds)) return undefined;
  return Math.min(Math.max(0, Math.ceil(milliseconds / 1000)), MAX_RETRY_AFTER_SECONDS);
};

/** The data of the last event of an event stream, in which some gateways frame an answer, whatever its type says. */
const LAST_EVENT = /^[\s\S]*^data:(.*)$/m;

/** A body as JSON, also in an event stream. */
const readText = (body: string): unknown => parseJson(body) ?? parseJson(LAST_EVENT.exec(body)?.[1] ?? '');

/** The body as JSON; undefined when it is none, as from a gateway: then the status decides. */
export const parseJson = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

/** An optional field of a provider's answer, where null means absent. Every optional field of both providers is read by this. */
export const optional = <Schema extends z.core.$ZodType>(schema: Schema) =>
  z.pipe(
    z.nullish(schema),
    z.transform((value) => value ?? undefined),
  );

/** An optional text in a provider's answer, where empty means absent. */
export const answerText = () =>
  z.pipe(
    z.nullish(z.string()),
    z.transform((value) => value || undefined),
  );

/** A number that says something; anything else counts as absent, because no answer may fail for it. */
export const optionalNumber = () =>
  z.pipe(
    z.optional(z.unknown()),
    z.transform((value) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined)),
  );

/** Text for people that says something; anything else counts as absent, because no answer may fail for it. */
export const saidText = () =>
  z.pipe(
    z.optional(z.unknown()),
    z.transform((value) => (typeof value === 'string' && value !== '' ? value : undefined)),
  );

/** The URL of a file: the text itself, or the `url` of an object. Undefined without one. */
export const urlOf = (file: unknown): string | undefined => {
  const url = typeof file === 'object' && file !== null && 'url' in file ? file.url : file;
  return typeof url === 'string' && url !== '' ? url : undefined;
};

/** A number of an object that says something. */
export const numberOf = (value: unknown, name: string): number | undefined => {
  const number =
    typeof value === 'object' && value !== null
      ? Object.entries(value).find(([key]) => key === name)?.[1]
      : undefined;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
};

/** The seed in an answer; undefined for -1, which some providers send for no seed. */
export const reportedSeed = (seed: number | undefined): { seed?: number } =>
  seed !== undefined && Number.isSafeInteger(seed) && seed >= 0 ? { seed } : {};

export const requiredText = () => z.string().check(z.minLength(1));

/** A body parsed by the schema; undefined for a body of another form. */
export const readBody = <Schema extends z.core.$ZodType>(
  schema: Schema,
  body: unknown,
): z.output<Schema> | undefined => z.safeParse(schema, body).data;

/** Deeper parts of a body, and more fields of an object, are left out of its shape. */
const MAX_DEPTH = 5;
const MAX_FIELDS = 30;
/** Other keys might be content. */
const FIELD_NAME = /^[A-Za-z_][\w.-]{0,39}$/;

/** The keys and types of a body, never its content: `{output:{task_id:number,choices:[null]}}`. */
const shapeOf = (value: unknown, depth = 0): string => {
  if (value === undefined) return 'no JSON';
  if (value === null) return 'null';
  if (typeof value !== 'object') return typeof value;
  if (depth === MAX_DEPTH) return '…';
  if (Array.isArray(value))
    return `[${[...new Set(value.map((item) => shapeOf(item, depth + 1)))].join('|')}]`;
  const fields = Object.entries(value).map(
    ([name, field]) => `${FIELD_NAME.test(name) ? name : '?'}:${shapeOf(field, depth + 1)}`,
  );
  return `{${[...fields.slice(0, MAX_FIELDS), ...(fields.length > MAX_FIELDS ? ['…'] : [])].join(',')}}`;
};

/** Answers that this process has logged already, as `provider operation status shape`. */
const logged = new Set<string>();
const MAX_LOGGED = 100;

/** Logs the shape of an answer that cannot be read, once in this process: a task is queried again and again. */
export const logUnreadable = (
  provider: ProviderId,
  operation: 'creation' | 'query' | 'list',
  status: number,
  body: unknown,
): void => {
  const shape = shapeOf(body).slice(0, 2_000);
  const answer = `${provider} ${operation} ${status} ${shape}`;
  if (logged.has(answer) || logged.size >= MAX_LOGGED) return;
  logged.add(answer);
  logger.error('provider answer unreadable', { provider, operation, status, shape });
};
