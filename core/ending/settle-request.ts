import { requiredNumberEnv } from '../environment.ts';
import type { Failure } from '../errors.ts';
import { startFirstAttempt } from '../executions/invoke-later.ts';
import { latestAttempts } from '../provider-calls/attempt-rules.ts';
import { findRequestAndAttempts, type ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import { costOf, isTerminal, type StoredRequest } from '../requests/request-rules.ts';
import type { TerminalState } from '../requests/requests.ts';
import { addSeconds, type Clock, systemClock, toInstant } from '../time.ts';
import { closeRequest } from './close-request.ts';
import { endRequest } from './end-request.ts';

const NOTHING_STORED: Failure = { code: 'internal_error', message: 'None of the outputs could be stored.' };

/** A request has failed and is refunded: `generation` catches this, so that the execution fails too. */
export class RequestFailedError extends Error {
  override name = 'RequestFailedError';
}

/**
 * Ends a request whose outputs are recorded, then closes it. It succeeds, charged for the outputs that have a
 * file and refunded for the rest; with no file it fails, refunded in full. A terminal request is only closed. Returns the status at the
 * end, undefined when the request is absent.
 */
export const settleRequest = async (
  requestId: string,
  clock: Clock = systemClock,
): Promise<StoredRequest['status'] | undefined> => {
  const { request, attempts } = await findRequestAndAttempts(requestId);
  const now = clock.now();
  let status = request?.status;
  if (request && !isTerminal(request)) {
    const latest = latestAttempts(attempts);
    const state = terminalStateOf(request, latest, now);
    status = state.status;
    const ending = await endRequest({ request, attempts: latest }, state, now);
    if (ending === 'closed') {
      if (request.webhookUrl !== undefined) await startFirstAttempt(requestId);
      return status;
    }
  }
  // A failed request may have files from another run. The reconciler removes them and closes it.
  const hasNoFiles = async (ended: StoredRequest): Promise<boolean> => {
    // Someone else may have ended it.
    status = ended.status;
    return status === 'succeeded';
  };
  await closeRequest(requestId, hasNoFiles, { clock });
  return status;
};

const terminalStateOf = (
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
