import { setTimeout as pause } from 'node:timers/promises';
import { releasePermit } from '../admission/admission.ts';
import { inParallel } from '../concurrency/in-parallel.ts';
import { workflowSettings } from '../environment.ts';
import { storingEndOf } from '../executions/step-rules.ts';
import { removeObjects } from '../files/bucket.ts';
import { storeImage, storeVideo } from '../files/store-files.ts';
import { FileUnavailableError, openFile } from '../guarded-http/http-files.ts';
import { outputObjectKey } from '../object-keys.ts';
import { countMetric, logger, METRIC } from '../observability.ts';
import { hasOpenTask, latestAttempts, producedOutputs } from '../provider-calls/attempt-rules.ts';
import { findRequestAndAttempts, type ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import { possibleClipsOf, possibleFilesOf } from '../requests/file-kinds.ts';
import {
  checkStatus,
  isTerminal,
  maxOutputs,
  type StoredOutput,
  type StoredRequest,
} from '../requests/request-rules.ts';
import { findRequest, keepStoring, recordOutputs } from '../requests/requests.ts';
import { reportTasks } from '../route-pauses/report-results.ts';
import { type Clock, type Instant, systemClock, toInstant } from '../time.ts';
import { fetchingEndOf } from './fetching-rules.ts';
import { usageDifference } from './usage-rules.ts';

/** Each file being copied holds up to three parts of 5 MiB in memory. */
const CONCURRENT_FILES = 4;
/**
 * Time limit and attempts of one file. With these, 15 images, four at a time, or one video take at most 12 min: less than the
 * function's time limit. With one attempt each they take 4 min (`FETCHING_SECONDS`).
 */
const FILE_TIMEOUT_MS = { image: 60_000, video: 240_000 } as const;
const MAX_ATTEMPTS = 3;
const RETRY_PAUSE_MS = 500;

/**
 * Some outputs are not stored yet, and a later attempt may store them. Marked as retryable, so that the error reaches the state
 * machine as `TransientError`.
 */
class OutputsPendingError extends Error {
  override name = 'OutputsPendingError';
  readonly $retryable = {};
}

/**
 * Copies every output of the provider into the bucket, records the outputs, then removes the copies of the reference videos. An
 * output whose file stays absent or cut off, or is not of a kind that we deliver, is recorded without a file, and the other
 * outputs are stored.
 *
 * Idempotent: a run after the outputs are recorded does nothing, and an earlier run writes the same files under the same keys. If
 * the request failed or was deleted during a run, the files are removed again.
 *
 * Throws `UnknownStatusError`, and `OutputsPendingError` when the bucket, the network or a file's server failed: the stored
 * outputs are kept for the next run. When the time for storing is over, missing outputs are recorded without a file.
 */
export const storeOutputs = async (requestId: string, clock: Clock = systemClock): Promise<void> => {
  const { request, attempts } = await findRequestAndAttempts(requestId);
  // A run that died after the request had failed may have left files.
  if (request?.status === 'failed' && request.unknownStatus === undefined)
    await removeObjects(possibleFilesOf(request));
  if (!request || isTerminal(request) || request.outputs) return;
  checkStatus(request);
  // Once the provider has finished, its capacity is free while the files are copied. A task still open at the deadline keeps the permit.
  const { assignment } = request;
  const isFree = assignment !== undefined && !hasOpenTask(latestAttempts(attempts));
  const isReleased = isFree && (await releasePermit(request, assignment.route, clock));
  const produced = producedOutputs(latestAttempts(attempts)).slice(0, maxOutputs(request));
  // A delay before the first run is no fault of a file.
  const since = request.storingSince ?? toInstant(clock.now());
  const { outputs, pending } = await storeAll(request, produced, since, clock);
  const isOver = toInstant(clock.now()) >= storingEndOf(request.kind, attempts, since, workflowSettings());
  if (pending.length > 0 && !isOver) {
    if (await keepProgress(request, outputs, since)) {
      throw new OutputsPendingError(`Outputs ${pending.join(', ')} of ${requestId} are not stored yet.`);
    }
  } else {
    for (const _ of pending) countMetric(METRIC.outputStorageFailed, {});
    if (await recordOutputs(requestId, outputs, isReleased)) {
      reportUsage(request, latestAttempts(attempts));
      // Only the run that records the outputs reports the tasks: another report would count them twice.
      await reportTasks(request, latestAttempts(attempts), clock);
      // The provider has finished, and does not need the copies any more.
      await removeObjects(possibleClipsOf(request));
      return;
    }
  }
  // Nothing was written. If the request failed or was deleted, nothing refers to these files.
  const ended = await findRequest(requestId);
  if (!ended || ended.status === 'failed')
    await removeObjects(outputs.flatMap(({ objectKey }) => objectKey ?? []));
};

/** Stores the outputs that are not stored yet. Returns every output, without a file if not stored, and the indexes that may be stored later. */
const storeAll = async (
  request: StoredRequest,
  produced: readonly { url: string }[],
  since: Instant,
  clock: Clock,
): Promise<{ outputs: StoredOutput[]; pending: number[] }> => {
  const outputs = produced.map((_, index): StoredOutput => request.storedSoFar?.[index] ?? { index });
  const pending = new Set<number>();
  await inParallel(produced.entries(), CONCURRENT_FILES, async ([index, { url }]) => {
    if (outputs[index]?.objectKey !== undefined) return;
    const stored = await storeOutput({ request, index, url }, since, clock);
    if (stored === 'pending') pending.add(index);
    else outputs[index] = stored;
  });
  return { outputs, pending: [...pending] };
};

/** Keeps the stored outputs and the start of storing for the next run. False when no run is needed: another run has recorded outputs, or the request has ended. */
const keepProgress = async (
  { requestId, storingSince }: StoredRequest,
  outputs: readonly StoredOutput[],
  since: Instant,
): Promise<boolean> => {
  const isAnyStored = outputs.some(({ objectKey }) => objectKey !== undefined);
  if (!isAnyStored && storingSince !== undefined) return true;
  return keepStoring(requestId, { storingSince: since, ...(isAnyStored && { storedSoFar: outputs }) });
};

/** Counts the calls with a reported usage that differs from the billed amount. */
const reportUsage = (request: StoredRequest, attempts: Iterable<ProviderAttempt>): void => {
  for (const attempt of attempts) {
    const direction = usageDifference(request, attempt);
    if (direction === undefined) continue;
    const { provider, call, outcome } = attempt;
    countMetric(METRIC.providerUsageDiffers, { provider, direction });
    const { requestId } = request;
    const billedSeconds = request.kind === 'video' ? request.billedSeconds : undefined;
    const usage = outcome?.kind === 'done' ? outcome.usage : undefined;
    logger.warn('provider usage differs', { requestId, provider, call, direction, billedSeconds, usage });
  }
};

const STORE = { image: storeImage, video: storeVideo };

/** Whether the file of an output is not fetched again after this error. */
const isFinal = (error: unknown, since: Instant, clock: Clock): boolean =>
  error instanceof FileUnavailableError && fetchingEndOf(error.fault, since) <= toInstant(clock.now());

/** An output that a provider made. */
interface Produced {
  request: StoredRequest;
  index: number;
  url: string;
}

/**
 * Stores one output. Returns it without a file when it can never be stored, and `pending` when it may be stored
 * later.
 */
const storeOutput = async (
  { request, index, url }: Produced,
  since: Instant,
  clock: Clock,
): Promise<StoredOutput | 'pending'> => {
  for (let attempt = 1; ; attempt++) {
    const startedAtMs = clock.now().getTime();
    try {
      const file = await openFile(url, AbortSignal.timeout(FILE_TIMEOUT_MS[request.kind]));
      const outputKey = ({ extension }: { extension: string }): string =>
        outputObjectKey(request.requestId, index, extension);
      const { extension: _, hasManifest, ...stored } = await STORE[request.kind](file, outputKey);
      return { index, ...stored, ...(hasManifest && { provenance: { c2pa: true as const } }) };
    } catch (error) {
      const isLost = isFinal(error, since, clock);
      if (!isLost && attempt < MAX_ATTEMPTS) {
        await pause(RETRY_PAUSE_MS * attempt);
        continue;
      }
      logger.warn('an output could not be stored', {
        requestId: request.requestId,
        model: request.model,
        index,
        attempt,
        isFinal: isLost,
        milliseconds: clock.now().getTime() - startedAtMs,
        error: error as Error,
      });
      if (!isLost) return 'pending';
      countMetric(METRIC.outputStorageFailed, {});
      return { index };
    }
  }
};
