import type { ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import type { ProviderUsage } from '../provider-calls/providers.ts';
import type { StoredRequest } from '../requests/request-rules.ts';

/** The difference between a provider's usage and the billed amount: `more` costs us, `less` costs the caller. */
export type UsageDifference = 'more' | 'less';

/** Seconds that two readers of a file may differ in: one counts the last frame and the other does not. */
const READER_SECONDS = 0.2;

/**
 * How the usage that a provider reports for an attempt differs from the billed amount; undefined when it does
 * not, or is not reported. Images are billed one by one, videos for whole seconds, so a shortfall under a
 * second is no difference.
 */
export const usageDifference = (
  request: StoredRequest,
  { outcome }: Pick<ProviderAttempt, 'outcome'>,
): UsageDifference | undefined => {
  if (outcome?.kind !== 'done' || !outcome.usage) return undefined;
  const { outputs, usage } = outcome;
  if (request.kind === 'image') {
    const delivered = outputs.filter((output) => 'url' in output).length;
    return compare(usage.images, delivered, delivered);
  }
  const { durationSec, billedSeconds } = request;
  const inputSeconds = billedSeconds - durationSec;
  return (
    compare(usage.outputSeconds, durationSec - READER_SECONDS, durationSec + READER_SECONDS) ??
    compare(usage.inputSeconds, inputSeconds - 1 - READER_SECONDS, inputSeconds + READER_SECONDS)
  );
};

const compare = (
  used: ProviderUsage[keyof ProviderUsage],
  least: number,
  most: number,
): UsageDifference | undefined => {
  if (used === undefined) return undefined;
  if (used > most) return 'more';
  return used < least ? 'less' : undefined;
};
