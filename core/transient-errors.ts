import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import { RateLimitedError } from './errors.ts';
import { sleep } from './time.ts';

type SdkError = Parameters<typeof isServerError>[0];

/** Depth to which causes are followed: errors are wrapped once or twice. */
const MAX_CAUSES = 5;

/**
 * Whether repeating what threw this may help: an AWS service was throttled, failed or did not answer through the
 * SDK's own attempts, or the account's items stayed contended. AWS errors have many names, so the SDK's own
 * classification decides. Looks through wrapping errors at their causes.
 */
export const isTransient = (error: unknown): error is Error => {
  let cause = error;
  for (let depth = 0; cause instanceof Error && depth < MAX_CAUSES; depth++, cause = cause.cause) {
    const sdkError = cause as SdkError;
    const found =
      cause instanceof RateLimitedError ||
      isTransientError(sdkError) ||
      isThrottlingError(sdkError) ||
      isServerError(sdkError);
    if (found) return true;
  }
  return false;
};

/** Longest pause between two attempts. */
const MAX_PAUSE_MS = 2_000;

/**
 * Repeats work that must not be given up at the first transient error, with full jitter, base 100 ms, doubling up
 * to 2 s. Rethrows any other error at once, and a transient one when `hasTime` is false.
 */
export const keepTrying = async <T>(work: () => Promise<T>, hasTime: () => boolean): Promise<T> => {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error) || !hasTime()) throw error;
      await sleep(Math.random() * Math.min(MAX_PAUSE_MS, 100 * 2 ** attempt));
    }
  }
};
