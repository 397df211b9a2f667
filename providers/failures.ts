import type { Failure } from '../core/errors.ts';
import { countMetric, logger, METRIC } from '../core/observability.ts';
import {
  type CancelAnswer,
  type ProviderAnswer,
  type ProviderOutput,
  queriedRequest,
  type Taken,
  type UpstreamError,
} from '../core/provider-calls/providers.ts';
import type { ProviderId } from '../core/provider-names.ts';
import { type Answered, type HttpAnswer, logUnreadable } from './http.ts';

export type ErrorClass =
  /** The provider refused the content. */
  | 'content'
  /** Nothing was accepted: repeat the same call later. */
  | 'busy'
  /** Nothing was accepted: the provider is full, or our quota there is used up. Repeat the same call once. */
  | 'quota'
  /** The request is at fault, by a field or by a file that cannot be had or used. */
  | 'input'
  /** The same, of a file whose server was too slow. */
  | 'slow-input'
  /** The provider itself ran out of time. */
  | 'timeout'
  /** Our credential, account, quota or model was refused: the operator must act. */
  | 'access'
  /** Anything else. */
  | 'error';

/** The class of a provider's error by HTTP status, absent for a code inside a result, and error code. */
export type Classify = (status: number | undefined, code: string) => ErrorClass;

type Unanswered = Exclude<HttpAnswer, Answered>;

const ERROR: Failure = { code: 'provider_error', message: 'The upstream provider returned an error.' };
const TIMEOUT: Failure = { code: 'provider_timeout', message: 'The upstream provider timed out.' };
const UNABLE: Failure = {
  code: 'provider_error',
  message: 'The upstream provider could not process the request.',
};
const FAILURES: Record<ErrorClass, Failure> = {
  content: { code: 'content_policy', message: 'The content filter of the provider refused the request.' },
  busy: ERROR,
  quota: UNABLE,
  input: ERROR,
  'slow-input': TIMEOUT,
  timeout: TIMEOUT,
  access: UNABLE,
  error: ERROR,
};

const LOST: Failure = { code: 'provider_error', message: 'The answer of the upstream provider was lost.' };

/** The answer with the provider's own id of the call, when it sent one. */
export const withCallId = (answer: ProviderAnswer, http: HttpAnswer): ProviderAnswer => {
  const providerRequestId = callIdOf(http);
  return providerRequestId === undefined ? answer : { ...answer, providerRequestId };
};

const callIdOf = (http: HttpAnswer): string | undefined =>
  http.kind === 'answered' ? http.providerRequestId : undefined;

/** The failure to record for a refused output or task. */
export const failureOf = (errorClass: ErrorClass): Failure => FAILURES[errorClass];

/** The failure of a call of which no output has a URL: a content decision, else the first. */
export const failureOfAll = (outputs: readonly ProviderOutput[]): Failure => {
  const failures = outputs.flatMap((output) => ('failure' in output ? [output.failure] : []));
  return failures.find(({ code }) => code === 'content_policy') ?? failures[0] ?? ERROR;
};

/** Most characters kept of a provider's own error: a line or two to read, whatever it sends. */
const MAX_CODE_CHARACTERS = 100;
const MAX_MESSAGE_CHARACTERS = 500;

/** A provider's own error, cut to a length that can be stored. */
export const upstreamError = (code: string, message?: string): UpstreamError => ({
  code: code.slice(0, MAX_CODE_CHARACTERS).toWellFormed(),
  ...(message !== undefined && { message: message.slice(0, MAX_MESSAGE_CHARACTERS).toWellFormed() }),
});

const noteRefusal = (
  provider: ProviderId,
  refusal: {
    errorClass: ErrorClass;
    upstreamCode: string;
    status?: number;
    providerRequestId?: string | undefined;
  },
): void => {
  logger.warn('provider refused', { ...queriedRequest(), provider, ...refusal });
  if (refusal.errorClass === 'access') countMetric(METRIC.providerAccessRefused, { provider });
  if (isOfInput(refusal.errorClass)) countMetric(METRIC.providerInputRefused, { provider });
};

/** A provider's error as a body tells it: its code, and its message for operators. */
export interface ToldError {
  code: string;
  message?: string | undefined;
}

/**
 * The answer for a creation call that the provider refused, by the error in its body; undefined when it has none. By default a 4xx, even from
 * a gateway, was surely not taken. After a 5xx, or when the connection ended on the way, it may have been.
 */
export const refusedCreation = (
  provider: ProviderId,
  answer: Answered,
  error: ToldError | undefined,
  classify: Classify,
  takenBy: (status: number) => Taken = takenByStatus,
): ProviderAnswer => {
  const { status, retryAfterSeconds, providerRequestId } = answer;
  if (error === undefined) {
    logUnreadable(provider, 'creation', status, answer.body);
    if (status < 400 || status >= 500)
      return lost(provider, `an answer of status ${status} that cannot be read`);
  }
  const upstreamCode = error?.code ?? `HTTP ${status}`;
  const taken = takenBy(status);
  const told = classify(status, upstreamCode);
  const errorClass = told === 'error' && taken === 'no' ? 'input' : told;
  noteRefusal(provider, { errorClass, upstreamCode, status, providerRequestId });
  const upstream = upstreamError(upstreamCode, error?.message);
  if (errorClass === 'busy' || errorClass === 'quota') {
    const repeated = errorClass === 'quota' ? { ifRepeated: failureOf(errorClass), upstream } : {};
    const reason = `${provider} answered ${upstreamCode}.`;
    return { kind: 'busy', reason, obstacle: 'throttled', retryAfterSeconds, ...repeated };
  }
  const obstacle = errorClass === 'access' && taken === 'no' ? { obstacle: 'access' as const } : {};
  return {
    kind: 'failed',
    failure: failureOf(errorClass),
    taken,
    ...obstacle,
    ...blame(errorClass),
    upstream,
  };
};

const takenByStatus = (status: number): Taken => {
  if (status < 400) return 'yes';
  return status < 500 && status !== 408 && status !== 499 ? 'no' : 'unknown';
};

const isOfInput = (errorClass: ErrorClass): boolean => errorClass === 'input' || errorClass === 'slow-input';

/** Marks a failure for which the request is at fault. */
export const blame = (errorClass: ErrorClass): { blamesInput?: true } =>
  isOfInput(errorClass) ? { blamesInput: true } : {};

/** The answer for a creation call without a response. If the provider may have received it, it is lost. */
export const unansweredCreation = (provider: ProviderId, answer: Unanswered): ProviderAnswer => {
  if (answer.kind === 'unreached')
    return { kind: 'busy', reason: `${provider} was not reached: ${answer.reason}.`, obstacle: 'unreached' };
  if (answer.kind === 'timed-out') return { kind: 'failed', failure: TIMEOUT, taken: 'unknown' };
  return lost(provider, answer.reason);
};

/** The answer for a task that ended without a result, by its error. */
export const failedTask = (
  provider: ProviderId,
  { code, message }: ToldError,
  classify: Classify,
  http: HttpAnswer,
): ProviderAnswer => {
  const errorClass = classify(undefined, code);
  noteRefusal(provider, { errorClass, upstreamCode: code, providerRequestId: callIdOf(http) });
  return {
    kind: 'failed',
    failure: failureOf(errorClass),
    ...blame(errorClass),
    upstream: upstreamError(code, message),
  };
};

/**
 * The answer for a query that did not report the state of its task: repeat it later, and not before the
 * provider's `Retry-After`. A refusal of our credential or account is distinguished from slowness, and
 * counted for an alarm.
 */
export const untoldTask = (
  provider: ProviderId,
  answer: HttpAnswer,
  code: string | undefined,
  classify: Classify,
): ProviderAnswer => {
  if (answer.kind !== 'answered') return { kind: 'busy', reason: 'the task query was not answered' };
  const { status, retryAfterSeconds, providerRequestId, body } = answer;
  if (code === undefined) logUnreadable(provider, 'query', status, body);
  if (status === 200 && code === undefined) countMetric(METRIC.unknownProviderState, { provider });
  const upstreamCode = code ?? `HTTP ${status}`;
  const errorClass = classify(status, upstreamCode);
  if (errorClass === 'access' && status !== 429) {
    noteRefusal(provider, { errorClass, upstreamCode, status, providerRequestId });
    return { kind: 'refused' };
  }
  return { kind: 'busy', reason: `the task query was answered with ${upstreamCode}`, retryAfterSeconds };
};

/** The answer for a task in a state the adapter does not know: keep waiting, and count it for an alarm. */
export const unknownState = (provider: ProviderId, status: string): ProviderAnswer => {
  logger.warn('provider task in an unknown state', { ...queriedRequest(), provider, status });
  countMetric(METRIC.unknownProviderState, { provider });
  return { kind: 'waiting' };
};

/** The answer for a task that the provider does not know. Whether that is final depends on the task's age. */
export const unknownTask = (): ProviderAnswer => ({ kind: 'lost', failure: LOST });

const lost = (provider: ProviderId, reason: string): ProviderAnswer => {
  logger.error('provider call lost', { provider, reason });
  countMetric(METRIC.providerCallLost, { provider });
  return { kind: 'lost', failure: LOST };
};

/**
 * The result of a cancelling call, by the code in its body. A provider that has cancelled sends nothing else.
 */
export const cancelAnswerOf = (answer: HttpAnswer, code: string | undefined): CancelAnswer => {
  if (answer.kind !== 'answered') return { kind: 'not-cancelled', reason: answer.kind };
  const isDone = answer.status >= 200 && answer.status < 300 && code === undefined;
  if (isDone) return { kind: 'cancelled' };
  return { kind: 'not-cancelled', reason: code ?? `HTTP ${answer.status}` };
};
