import { startFirstAttempt } from '../executions/invoke-later.ts';
import { latestAttempts } from '../provider-calls/attempt-rules.ts';
import { findRequestAndAttempts, type ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import { isTerminal, type StoredRequest } from '../requests/request-rules.ts';
import type { TerminalState } from '../requests/requests.ts';
import { type Clock, systemClock } from '../time.ts';
import { closeRequest, type Settle } from './close-request.ts';
import { type EndExtras, writeEnd } from './write-end.ts';

/**
 * The kind of a request's end: `settled`, `failed`, `failedBeforeStoring` or `givenUp`. A kind is an object of functions, not a
 * name: a Lambda function imports only the kinds that it uses, and has the rights of these alone.
 */
export interface Ending {
  /** The terminal state of an unfinished request. `unlessStored`: only while none of its outputs is stored. */
  stateOf: (request: StoredRequest, attempts: readonly ProviderAttempt[], now: Date) => EndState;
  /** Changes the stored request before its end. Resolves to true when the request is to be read again. */
  prepare?: (request: StoredRequest) => Promise<boolean>;
  /** Removes the files of an ended request. Resolves to false while files may be left. */
  removeFiles: Settle;
  /** Whether a failed request may have files: true by default. */
  mayHaveFiles?: boolean;
  /** Follow-up work of the call that ended the request. */
  onEnded?: (request: StoredRequest, attempts: readonly ProviderAttempt[], clock: Clock) => Promise<unknown>;
}

/** A terminal state, and whether a stored output prevents it. */
export interface EndState {
  state: TerminalState;
  unlessStored?: boolean;
}

/** Reads of a request until it is ended: with no output, with outputs kept, with outputs recorded. A request changes no more often. */
const MAX_READS = 4;

/**
 * Ends an unfinished request as its `ending` says, then closes the request. A terminal request is only closed. Only the first of
 * concurrent calls ends the request. Follow-up work that cannot be done yet stays due for the reconciler. Returns the status at
 * the end, undefined when the request is absent.
 *
 * Throws `UnknownStatusError`.
 */
export const endRequest = async (
  requestId: string,
  ending: Ending,
  { clock = systemClock, ...extras }: EndExtras & { clock?: Clock } = {},
): Promise<StoredRequest['status'] | undefined> => {
  for (let reads = 0; reads < MAX_READS; reads++) {
    const { request, attempts } = await findRequestAndAttempts(requestId);
    if (!request) return undefined;
    if (isTerminal(request)) return closeEnded(request, ending, clock);
    if (await ending.prepare?.(request)) continue;
    const latest = latestAttempts(attempts);
    const now = clock.now();
    const { state, ...condition } = ending.stateOf(request, latest, now);
    const options = { ...extras, ...condition, mayHaveFiles: ending.mayHaveFiles ?? true };
    const result = await writeEnd({ request, attempts: latest }, state, now, options);
    if (result === 'stored') continue;
    await ending.onEnded?.(request, latest, clock);
    if (result === 'ended') return closeEnded({ ...request, status: state.status }, ending, clock);
    if (request.webhookUrl !== undefined) await startFirstAttempt(requestId);
    return state.status;
  }
  throw new Error(`Request ${requestId} changed at each of ${MAX_READS} reads, and is not ended.`);
};

/** Closes an ended request. Returns the status that is stored: another call may have ended the request. */
const closeEnded = async (
  { requestId, status }: Pick<StoredRequest, 'requestId' | 'status'>,
  { removeFiles }: Ending,
  clock: Clock,
): Promise<StoredRequest['status']> => {
  let stored = status;
  const files = (ended: StoredRequest): Promise<boolean> => {
    stored = ended.status;
    return removeFiles(ended);
  };
  await closeRequest(requestId, files, { clock });
  return stored;
};
