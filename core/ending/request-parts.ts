import type { ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import type { StoredRequest } from '../requests/request-rules.ts';

/** The seconds of a request's parts, which add up to `totalSeconds`. */
export interface RequestParts {
  /** From its creation to its end. */
  totalSeconds: number;
  /** From its creation to its first provider call, or to its end without one. */
  queueSeconds: number;
  /** From its first provider call until the provider was done with the last one, or to its end before that. Absent without a call. */
  providerSeconds?: number;
  /** From then to its end: copying the outputs, and settling. Absent while a call or task is open. */
  storingSeconds?: number;
}

const seconds = (fromMs: number, untilMs: number): number => Math.max(0, untilMs - fromMs) / 1000;

/** The parts of a request that ends at `endedAt`, from its provider calls. */
export const partsOf = (
  { createdAt, dispatchedAt }: Pick<StoredRequest, 'createdAt' | 'dispatchedAt'>,
  attempts: readonly Pick<ProviderAttempt, 'finishedAt'>[],
  endedAt: Date,
): RequestParts => {
  const [createdMs, endedMs] = [Date.parse(createdAt), endedAt.getTime()];
  const totalSeconds = seconds(createdMs, endedMs);
  if (dispatchedAt === undefined) return { totalSeconds, queueSeconds: totalSeconds };
  const dispatchedMs = Date.parse(dispatchedAt);
  const queueSeconds = seconds(createdMs, dispatchedMs);
  const finished = attempts.map(({ finishedAt }) => finishedAt);
  const isOpen = finished.length === 0 || finished.includes(undefined);
  if (isOpen) return { totalSeconds, queueSeconds, providerSeconds: seconds(dispatchedMs, endedMs) };
  const doneMs = Math.max(...finished.map((at = '') => Date.parse(at)));
  const providerSeconds = seconds(dispatchedMs, doneMs);
  return { totalSeconds, queueSeconds, providerSeconds, storingSeconds: seconds(doneMs, endedMs) };
};
