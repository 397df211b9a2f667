import { CALL_LIMITS, type CallKind, type CallLimits } from '../../../core/aws-clients.ts';

/** Every kind of call that has limits. */
export const CALL_KINDS = Object.keys(CALL_LIMITS) as CallKind[];

/**
 * The longest an AWS call can take, in milliseconds: each attempt's answer begins at the last moment, then stalls or is a
 * throttling error. The SDK backs off with full jitter: 1 s doubling after throttling, else 50 ms doubling. A call that its caller
 * aborts takes no longer than that.
 */
export const longestCallMs = (kind: CallKind): number => {
  const { maxAttempts, answerMs, silenceMs, totalMs }: CallLimits = CALL_LIMITS[kind];
  let total = answerMs + silenceMs;
  for (let retry = 0; retry < maxAttempts - 1; retry++) {
    total += answerMs + Math.max(silenceMs + 50 * 2 ** retry, 1_000 * 2 ** retry);
  }
  return Math.min(total, totalMs ?? total);
};

/** The longest an AWS call can take without any answer, in milliseconds. */
export const silentCallMs = (kind: CallKind): number => {
  const { maxAttempts, answerMs, silenceMs } = CALL_LIMITS[kind];
  return maxAttempts * Math.min(answerMs, silenceMs) + 50 * (2 ** (maxAttempts - 1) - 1);
};
