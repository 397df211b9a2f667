import type { Failure } from '../core/errors.ts';
import { countMetric, logger, METRIC } from '../core/observability.ts';
import {
  type CancelAnswer,
  type ProviderAnswer,
  type ProviderOutput,
  queriedRequest,
  type UpstreamError,
} from '../core/provider-calls/providers.ts';
import type { ProviderId } from '../core/provider-names.ts';
import type { ToldError } from './error-bodies.ts';
import {
  classify,
  type ErrorClass,
  type ProviderErrors,
  takenByStatus,
  type Verdict,
} from './error-classes.ts';
import { type Answered, type HttpAnswer, logUnreadable } from './http.ts';

type Unanswered = Exclude<HttpAnswer, Answered>;

const ERROR: Failure = { code: 'provider_error', message: 'The upstream provider returned an error.' };
const TIMEOUT: Failure = { code: 'provider_timeout', message: 'The upstream provider timed out.' };
const UNABLE: Failure = {
  code: 'provider_error',
  message: 'The upstream provider could not process the request.',
};
const REFUSED_INPUT = 'The upstream provider refused an input of the request.';
const FAILURES: Record<ErrorClass, Failure> = {
  content: { code: 'content_policy', message: 'The content filter of the provider refused the request.' },
  throttled: ERROR,
  quota: UNABLE,
  input: { code: 'provider_error', message: REFUSED_INPUT },
  'slow-input': { code: 'provider_timeout', message: REFUSED_INPUT },
  timeout: TIMEOUT,
  access: UNABLE,
  error: ERROR,
};
/** The failure for an output that the content filter refused: the request was taken. */
export const REFUSED_OUTPUT: Failure = {
  code: 'content_policy',
  message: 'The content filter of the provider refused the output.',
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

/** The same for an error that was read. When the request ends, its message gets the name of the input. */
export const failureFor = ({ errorClass, input, isOfOutput }: Verdict): Failure => {
  if (isOfOutput) return REFUSED_OUTPUT;
  return input ? { ...FAILURES[errorClass], input } : FAILURES[errorClass];
};

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

/**
 * The answer for a refused creation call, by the error in its body; undefined for a body without an error. A 4xx, even from a
 * gateway, was surely not taken. After a 5xx, or when the connection ended on the way, it may have been, unless the maker
 * documents otherwise.
 */
export const refusedCreation = (
  provider: ProviderId,
  answer: Answered,
  error: ToldError | undefined,
  errors: ProviderErrors,
): ProviderAnswer => {
  const { status, retryAfterSeconds, providerRequestId } = answer;
  if (error === undefined) {
    logUnreadable(provider, 'creation', status, answer.body);
    if (status < 400 || status >= 500)
      return lost(provider, `an answer of status ${status} that cannot be read`);
  }
  const told = error ?? { code: `HTTP ${status}` };
  const verdict = classify(errors, told, status);
  const { errorClass } = verdict;
  const taken = verdict.isNotTaken ? 'no' : (errors.takenAt ?? takenByStatus)(status);
  noteRefusal(provider, { errorClass, upstreamCode: told.code, status, providerRequestId });
  const upstream = upstreamError(told.code, told.message);
  if (errorClass === 'throttled' || errorClass === 'quota') {
    const repeated = errorClass === 'quota' ? { ifRepeated: failureOf(errorClass), upstream } : {};
    const reason = `${provider} answered ${told.code}.`;
    return { kind: 'busy', reason, obstacle: 'throttled', retryAfterSeconds, ...repeated };
  }
  const obstacle = errorClass === 'access' && taken === 'no' ? { obstacle: 'access' as const } : {};
  return { kind: 'failed', failure: failureFor(verdict), taken, ...obstacle, ...blame(errorClass), upstream };
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
  error: ToldError,
  errors: ProviderErrors,
  http: HttpAnswer,
): ProviderAnswer => {
  const status = http.kind === 'answered' ? http.status : undefined;
  const verdict = classify(errors, error, status);
  const { errorClass } = verdict;
  noteRefusal(provider, { errorClass, upstreamCode: error.code, providerRequestId: callIdOf(http) });
  return {
    kind: 'failed',
    failure: failureFor(verdict),
    ...blame(errorClass),
    upstream: upstreamError(error.code, error.message),
  };
};

/**
 * The answer for a query that did not report the state of its task: repeat it later, and not before the
 * provider's `Retry-After`. A refusal of our credential or account is distinguished from slowness, and
 * counted for an alarm. An answer that cannot be read, or refuses the query, is final if the provider goes on with it.
 */
export const untoldTask = (
  provider: ProviderId,
  answer: HttpAnswer,
  error: ToldError | undefined,
  errors: ProviderErrors,
): ProviderAnswer => {
  if (answer.kind !== 'answered') return { kind: 'busy', reason: 'the task query was not answered' };
  const { status, retryAfterSeconds, providerRequestId, body } = answer;
  if (error === undefined) logUnreadable(provider, 'query', status, body);
  const told = error ?? { code: `HTTP ${status}` };
  const { errorClass } = classify(errors, told, status);
  if (errorClass === 'access' && status !== 429) {
    noteRefusal(provider, { errorClass, upstreamCode: told.code, status, providerRequestId });
    return { kind: 'refused' };
  }
  if (error && (isOfInput(errorClass) || errorClass === 'content')) return { kind: 'refused', failure: LOST };
  if (error === undefined && !saysLater(status)) return unreadTask(provider);
  return { kind: 'busy', reason: `the task query was answered with ${told.code}`, retryAfterSeconds };
};

/** Whether a server is busy or out of order, by HTTP status: its answer then says nothing of a task. */
export const saysLater = (status: number): boolean => status >= 500 || [408, 425, 429].includes(status);

/** The answer for a task of which nothing can be read: lost if that goes on, and counted for an alarm. */
export const unreadTask = (provider: ProviderId): ProviderAnswer => {
  countMetric(METRIC.unknownProviderState, { provider });
  return { kind: 'refused', failure: LOST };
};

/** The answer for a task in a state that the adapter does not know: lost if that goes on, and counted for an alarm. */
export const unknownState = (provider: ProviderId, status: string): ProviderAnswer => {
  logger.warn('provider task in an unknown state', { ...queriedRequest(), provider, status });
  return unreadTask(provider);
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
  const isDone = answer.status < 300 && code === undefined;
  if (isDone) return { kind: 'cancelled' };
  return { kind: 'not-cancelled', reason: code ?? `HTTP ${answer.status}` };
};
