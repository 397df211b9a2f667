import type { Failure } from '../core/errors.ts';
import { countMetric, logger, METRIC } from '../core/observability.ts';
import type { ProviderAnswer, ProviderId } from '../core/provider-calls/providers.ts';
import type { UpstreamAnswer } from './http.ts';

/** What an upstream's error code means to us. */
export type ErrorClass =
  /** A real content decision. */
  | 'content'
  /** Try the same again later: nothing was accepted. */
  | 'busy'
  /** The upstream itself ran out of time. */
  | 'timeout'
  /** Our credential, account, quota or model is refused: the operator has to act. */
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

/** The failure a refused output or task is recorded with. */
export const failureOf = (errorClass: ErrorClass): Failure =>
  FAILURES[errorClass === 'busy' ? 'error' : errorClass];

/** The answer for an upstream's error, whose code is logged for the operator and never shown to a caller. */
export const refusal = (
  provider: ProviderId,
  errorClass: ErrorClass,
  detail: { status?: number; upstreamCode: string },
): ProviderAnswer => {
  logger.warn('provider refused', { provider, errorClass, ...detail });
  if (errorClass === 'busy') return { kind: 'busy', reason: `${provider} answered ${detail.upstreamCode}.` };
  if (errorClass === 'access') countMetric(METRIC.providerAccessRefused, { provider });
  return { kind: 'failed', failure: failureOf(errorClass) };
};

/** The answer of a call that got none. A creation that may have been seen is lost: it is never made again. */
export const unanswered = (
  provider: ProviderId,
  answer: Exclude<UpstreamAnswer, { kind: 'answered' }>,
): ProviderAnswer => {
  if (answer.kind === 'unreached')
    return { kind: 'busy', reason: `${provider} was not reached: ${answer.reason}.` };
  if (answer.kind === 'timed-out') return { kind: 'failed', failure: FAILURES.timeout };
  return lost(provider, answer.reason);
};

/**
 * The answer of a creation whose body cannot be read: whoever answered with a 4xx, a gateway in between too,
 * has refused it; what became of any other nobody can know.
 */
export const unreadable = (
  provider: ProviderId,
  status: number,
  classify: (status: number, code: string) => ErrorClass,
): ProviderAnswer => {
  const isRefused = status >= 400 && status < 500;
  if (!isRefused) return lost(provider, `an answer of status ${status} that cannot be read`);
  const upstreamCode = `HTTP ${status}`;
  return refusal(provider, classify(status, upstreamCode), { status, upstreamCode });
};

/** The answer of a task in a state that the adapter does not know: it is waited for, and the operator told. */
export const unknownState = (provider: ProviderId, status: string): ProviderAnswer => {
  logger.warn('provider task in an unknown state', { provider, status });
  countMetric(METRIC.unknownProviderState, { provider });
  return { kind: 'waiting' };
};

/** The answer of a creation whose outcome nobody can know. */
export const lost = (provider: ProviderId, reason: string): ProviderAnswer => {
  logger.error('provider call lost', { provider, reason });
  countMetric(METRIC.providerCallLost, { provider });
  return { kind: 'lost', failure: LOST };
};
