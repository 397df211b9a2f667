import { setTimeout as pause } from 'node:timers/promises';
import { type Clock, systemClock } from '../clock.ts';
import { storeImage, storeVideo } from '../files/objects.ts';
import { removeObjects } from '../files/remove-files.ts';
import { countMetric, logger, METRIC } from '../observability.ts';
import { FileUnavailableError, openFile } from '../outbound/http-files.ts';
import { listAttempts } from '../provider-calls/provider-attempts.ts';
import { isTerminal, maxOutputs, type StoredOutput, type StoredRequest } from '../requests/request-rules.ts';
import { findRequest, recordOutputs } from '../requests/requests.ts';
import { outputObjectKey } from '../table/keys.ts';
import { latestAttempts, producedOutputs } from './workflow-rules.ts';

/** How many files are on their way at once: each holds up to three parts of 5 MiB. */
const CONCURRENT_FILES = 4;
/**
 * How long one file may take, and how often its server is asked: 15 images, four at once, or one video are
 * done within 12 min.
 */
const FILE_TIMEOUT_MS = { image: 60_000, video: 240_000 } as const;
const MAX_TRIES = 3;
const RETRY_PAUSE_MS = 500;

/**
 * Copies every output the provider produced to the bucket, each under a key of its own, and records what
 * became of each. One that cannot be had is recorded without a file; the others are stored all the same.
 * Run again, it does nothing once that is recorded, and before stores the same files under the same keys. Files
 * of a request that was failed or deleted meanwhile are removed again.
 */
export const storeOutputs = async (requestId: string, clock: Clock = systemClock): Promise<void> => {
  const request = await findRequest(requestId);
  if (!request || isTerminal(request) || request.outputs) return;
  const attempts = latestAttempts(await listAttempts(requestId)).values();
  const produced = producedOutputs(attempts).slice(0, maxOutputs(request));
  const queue = produced.entries();
  const outputs: StoredOutput[] = [];
  const worker = async (): Promise<void> => {
    for (const [index, { url }] of queue) outputs[index] = await storeOutput(request, index, url, clock);
  };
  await Promise.all(Array.from({ length: CONCURRENT_FILES }, worker));
  if (await recordOutputs(requestId, outputs)) return;
  // Failed or deleted by somebody else meanwhile: nobody will ever hear of these files.
  const ended = await findRequest(requestId);
  if (!ended || ended.status === 'failed')
    await removeObjects(outputs.flatMap(({ objectKey }) => objectKey ?? []));
};

const STORE = { image: storeImage, video: storeVideo };

const storeOutput = async (
  request: StoredRequest,
  index: number,
  url: string,
  clock: Clock,
): Promise<StoredOutput> => {
  for (let attempt = 1; ; attempt++) {
    const startedAt = clock.now().getTime();
    try {
      const file = await openFile(url, AbortSignal.timeout(FILE_TIMEOUT_MS[request.kind]));
      const keyOf = ({ extension }: { extension: string }): string =>
        outputObjectKey(request.accountId, request.requestId, index, extension);
      const { extension: _, ...stored } = await STORE[request.kind](file, keyOf);
      return { index, ...stored };
    } catch (error) {
      const final = error instanceof FileUnavailableError && !error.retryable;
      if (!final && attempt < MAX_TRIES) {
        await pause(RETRY_PAUSE_MS * attempt);
        continue;
      }
      logger.warn('an output could not be stored', {
        requestId: request.requestId,
        index,
        attempt,
        milliseconds: clock.now().getTime() - startedAt,
        error: error as Error,
      });
      countMetric(METRIC.outputStorageFailed, { model: request.model });
      return { index };
    }
  }
};
