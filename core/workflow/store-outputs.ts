import { setTimeout as pause } from 'node:timers/promises';
import { type Clock, systemClock } from '../clock.ts';
import { removeObjects } from '../files/remove-files.ts';
import { storeImage, storeVideo } from '../files/store-files.ts';
import { countMetric, logger, METRIC } from '../observability.ts';
import { FileUnavailableError, openFile } from '../outbound/http-files.ts';
import { listAttempts } from '../provider-calls/provider-attempts.ts';
import { isTerminal, maxOutputs, type StoredOutput, type StoredRequest } from '../requests/request-rules.ts';
import { findRequest, recordOutputs } from '../requests/requests.ts';
import { outputObjectKey } from '../table/keys.ts';
import { latestAttempts, producedOutputs } from './workflow-rules.ts';

/** Each file being copied holds up to three parts of 5 MiB in memory. */
const CONCURRENT_FILES = 4;
/**
 * Time limit and attempts of one file. With these, 15 images, four at a time, or one video take at most 12 min:
 * less than the function's time limit.
 */
const FILE_TIMEOUT_MS = { image: 60_000, video: 240_000 } as const;
const MAX_ATTEMPTS = 3;
const RETRY_PAUSE_MS = 500;

/**
 * Copies every output the provider produced to the bucket and records them. An output that cannot be fetched is
 * recorded without a file and does not affect the others.
 *
 * Idempotent: it does nothing once the outputs are recorded; before, it writes the same files under the same
 * keys. If the request was failed or deleted while this ran, the files are removed again.
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
  // The outputs were not recorded. If the request failed or was deleted, nothing refers to these files.
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
    const startedAtMs = clock.now().getTime();
    try {
      const file = await openFile(url, AbortSignal.timeout(FILE_TIMEOUT_MS[request.kind]));
      const keyOf = ({ extension }: { extension: string }): string =>
        outputObjectKey(request.accountId, request.requestId, index, extension);
      const { extension: _, ...stored } = await STORE[request.kind](file, keyOf);
      return { index, ...stored };
    } catch (error) {
      const isFinal = error instanceof FileUnavailableError && !error.retryable;
      if (!isFinal && attempt < MAX_ATTEMPTS) {
        await pause(RETRY_PAUSE_MS * attempt);
        continue;
      }
      logger.warn('an output could not be stored', {
        requestId: request.requestId,
        index,
        attempt,
        milliseconds: clock.now().getTime() - startedAtMs,
        error: error as Error,
      });
      countMetric(METRIC.outputStorageFailed, { model: request.model });
      return { index };
    }
  }
};
