import { requiredNumberEnv } from '../environment.ts';
import type { Failure } from '../errors.ts';
import type { ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import { costOf, type StoredRequest } from '../requests/request-rules.ts';
import type { TerminalState } from '../requests/requests.ts';
import { addSeconds, toInstant } from '../time.ts';
import type { Ending } from './end-request.ts';

const NOTHING_STORED: Failure = { code: 'internal_error', message: 'None of the outputs could be stored.' };

/**
 * The ending of a request whose outputs are recorded. The request succeeds, charged for the outputs that have a file and refunded
 * for the rest; with no file it fails, refunded in full. A failed request may have files from another run: the reconciler removes
 * the files.
 */
export const settled: Ending = {
  stateOf: (...stored) => ({ state: settledState(...stored) }),
  removeFiles: async ({ status }) => status === 'succeeded',
};

/** The terminal state of a request by its recorded outputs. */
export const settledState = (
  request: StoredRequest,
  attempts: readonly ProviderAttempt[],
  now: Date,
): TerminalState => {
  const delivered = (request.outputs ?? []).filter(({ objectKey }) => objectKey !== undefined).length;
  if (delivered === 0) return { status: 'failed', error: NOTHING_STORED };
  const expiresAt = addSeconds(toInstant(now), requiredNumberEnv('OUTPUT_TTL_SECONDS'));
  const seed = seedOf(attempts);
  return {
    ...{ status: 'succeeded', costThousandths: costOf(request, delivered), expiresAt },
    ...(seed !== undefined && { reportedSeed: seed }),
  };
};

/** The seed that the provider reports for the first call of a request that has one. */
const seedOf = (attempts: readonly ProviderAttempt[]): number | undefined =>
  attempts
    .toSorted((one, other) => one.call - other.call)
    .flatMap(({ outcome }) => (outcome?.kind === 'done' ? (outcome.seed ?? []) : []))[0];
