import { loadUrlSigner } from '../files/signed-urls.ts';
import { type ExchangeResponse, exchange } from '../http-exchange.ts';
import { countMetric, logger, METRIC, runOrLog } from '../observability.ts';
import { findNewestDue, requestIdOf } from '../requests/due-items.ts';
import { type StoredRequest, statusAt } from '../requests/request-rules.ts';
import { findRequest } from '../requests/requests.ts';
import { type Clock, systemClock } from '../time.ts';

/** A file is fetched once in an hour: 730 small reads a month. */
const SPAN_SECONDS = 3600;
/** Time limit of the fetch, connection included. */
const FETCH_TIMEOUT_MS = 10_000;

/** An output with a file that callers may fetch now. */
interface Fetchable {
  requestId: string;
  objectKey: string;
  expiresAt: string;
}

/**
 * Fetches one byte of the newest stored output through its public URL, once an hour, and counts success or failure: a broken
 * distribution, key or DNS record is noticed before a caller reports it. Does nothing while no output is stored. Never rejects:
 * an error is logged.
 */
export const checkFile = async (everySeconds: number, clock: Clock = systemClock): Promise<void> => {
  if ((clock.now().getTime() / 1000) % SPAN_SECONDS >= Math.max(60, everySeconds)) return;
  await runOrLog({ message: 'the newest file could not be checked' }, async () => {
    const newest = await findNewestFile(clock.now());
    if (!newest) return;
    const problem = await fetchProblem(newest);
    // A request deleted meanwhile has no file any more.
    const isGone =
      problem !== undefined && fetchableOf(await findRequest(newest.requestId), clock.now()) === undefined;
    if (isGone) return;
    countMetric(METRIC.fileUnreachable, {}, problem === undefined ? 0 : 1);
    if (problem !== undefined)
      logger.error('a stored file is unreachable', { requestId: newest.requestId, problem });
  });
};

const findNewestFile = async (now: Date): Promise<Fetchable | undefined> => {
  const [requestId] = (await findNewestDue('EXPIRE')).flatMap(requestIdOf);
  return requestId === undefined ? undefined : fetchableOf(await findRequest(requestId), now);
};

const fetchableOf = (request: StoredRequest | undefined, now: Date): Fetchable | undefined => {
  if (request === undefined || statusAt(request, now) !== 'succeeded') return undefined;
  const { requestId, expiresAt, outputs = [] } = request;
  const objectKey = outputs.find((output) => output.objectKey !== undefined)?.objectKey;
  return objectKey === undefined || expiresAt === undefined ? undefined : { requestId, objectKey, expiresAt };
};

/** Why the first byte of a file did not come, in words for operators; undefined when it came. */
const fetchProblem = async ({ objectKey, expiresAt }: Fetchable): Promise<string | undefined> => {
  const sign = await loadUrlSigner();
  let response: ExchangeResponse;
  try {
    response = await exchange(new URL(sign(objectKey, expiresAt)), {
      method: 'GET',
      headers: { Range: 'bytes=0-0' },
      signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
    });
  } catch (error) {
    return String(error);
  }
  response.body.destroy();
  return [200, 206].includes(response.statusCode) ? undefined : `status ${response.statusCode}`;
};
