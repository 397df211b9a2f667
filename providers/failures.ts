import type { Failure } from '../core/errors.ts';
import { countMetric, logger, METRIC } from '../core/observability.ts';
import type { ProviderAnswer, ProviderId } from '../core/provider-calls/providers.ts';
import type { HttpAnswer } from './http.ts';

/** What a provider's error code means to us. */
export type ErrorClass =
  /** The provider refused the content. */
  | 'content'
  /** Nothing was accepted: repeat the same call later. */
  | 'busy'
  /** The provider itself ran out of time. */
  | 'timeout'
  /** Our credential, account, quota or model was refused: the operator must act. */
  | 'access'
  /** Anything else. */
  | 'error';

const FAILURES = {
  content: { code: 'content_policy', message: 'The content filter of the provider refused the request.' },
  timeout: { code: 'provider_timeout', message: 'The upstream provider timed out.' },
  access: { code: 'provider_error', message: 'The upstream provider could not process the request.' },
  error: { code: 'provider_error', message: 'The upstream provider returned an error.' },
} satisfies Record<Exclude<ErrorClass, 'busy'>, Failure>;

const LOST: Failure = { code: 'provider_error', message: 'The answer of the upstream provider was lost.' };

/** The failure to record for a refused output or task. */
export const failureOf = (errorClass: ErrorClass): Failure =>
  FAILURES[errorClass === 'busy' ? 'error' : errorClass];

/** The answer for a provider's error. Its code is logged for the operator and never shown to a caller. */
export const refusal = (
  provider: ProviderId,
  errorClass: ErrorClass,
  detail: { status?: number; upstreamCode: string; retryAfterSeconds?: number | undefined },
): ProviderAnswer => {
  logger.warn('provider refused', { provider, errorClass, ...detail });
  if (errorClass === 'busy') {
    const { upstreamCode, retryAfterSeconds } = detail;
    return { kind: 'busy', reason: `${provider} answered ${upstreamCode}.`, retryAfterSeconds };
  }
  if (errorClass === 'access') countMetric(METRIC.providerAccessRefused, { provider });
  return { kind: 'failed', failure: failureOf(errorClass) };
};

/** The answer for a creation call without a response. If the provider may have received it, it is lost. */
export const unanswered = (
  provider: ProviderId,
  answer: Exclude<HttpAnswer, { kind: 'answered' }>,
): ProviderAnswer => {
  if (answer.kind === 'unreached')
    return { kind: 'busy', reason: `${provider} was not reached: ${answer.reason}.` };
  if (answer.kind === 'timed-out') return { kind: 'failed', failure: FAILURES.timeout };
  return lost(provider, answer.reason);
};

/**
 * The answer for a creation call whose response body is unreadable. A 4xx, even from a gateway, means it was
 * refused; with any other status it is lost.
 */
export const unreadable = (
  provider: ProviderId,
  { status, retryAfterSeconds }: HttpAnswer & { kind: 'answered' },
  classify: (status: number, code: string) => ErrorClass,
): ProviderAnswer => {
  const isRefused = status >= 400 && status < 500;
  if (!isRefused) return lost(provider, `an answer of status ${status} that cannot be read`);
  const upstreamCode = `HTTP ${status}`;
  return refusal(provider, classify(status, upstreamCode), { status, upstreamCode, retryAfterSeconds });
};

/** The answer for a task in a state the adapter does not know: keep waiting, and count it for an alarm. */
export const unknownState = (provider: ProviderId, status: string): ProviderAnswer => {
  logger.warn('provider task in an unknown state', { provider, status });
  countMetric(METRIC.unknownProviderState, { provider });
  return { kind: 'waiting' };
};

/** The answer for a task that the provider does not know. Whether that is final depends on the task's age. */
export const unknownTask = (): ProviderAnswer => ({ kind: 'lost', failure: LOST });

/** The answer for a creation call whose outcome cannot be learned. */
export const lost = (provider: ProviderId, reason: string): ProviderAnswer => {
  logger.error('provider call lost', { provider, reason });
  countMetric(METRIC.providerCallLost, { provider });
  return { kind: 'lost', failure: LOST };
};
