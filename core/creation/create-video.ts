import type { Account } from '../accounts/accounts.ts';
import { withPlaces } from '../concurrency/in-flight.ts';
import { waitingLimits } from '../concurrency/waiting-limits.ts';
import { workAllowance } from '../concurrency/work-allowance.ts';
import { ServiceError, ValidationError } from '../errors.ts';
import { parseHandle } from '../files/file-handles.ts';
import { loadUrlSigner } from '../files/signed-urls.ts';
import { findVideoModel } from '../models/catalog.ts';
import { clipKeys } from '../object-keys.ts';
import { earlyLimitsOf } from '../provider-calls/model-routes.ts';
import type { VideoRequest } from '../requests/request-rules.ts';
import { leavesOutcomeOpen } from '../table/outcomes.ts';
import { addSeconds, systemClock, toInstant } from '../time.ts';
import { type ClipMeasure, tooManyClips } from './clip-measuring.ts';
import { type Creation, createRequest, hasClips } from './create-request.ts';
import { billedSeconds, type ClipLimits, clipProblems, type NewVideoRequest } from './create-video-rules.ts';
import { invokeDiscardClips, invokeMeasureClips } from './invoke-measure-clips.ts';
import type { CreationFacts } from './judge-creation.ts';
import { withClips } from './new-request.ts';
import type { Submission } from './submission.ts';
import { writeCreation } from './write-creation.ts';

/** How many creations of one account may measure clips at once: each waits for `measure-clips`, whose concurrency all accounts share. */
export const CLIP_PLACES = 4;
/** Longer than all attempts of a call to `measure-clips` (`CALL_LIMITS`). */
const LEASE_SECONDS = 25;

/**
 * Accepts a request for a video. Its reference videos are copied into the bucket and measured once everything else allows it and the
 * balance covers the output alone. `discard` removes the copies of a creation that is refused in the end, unless it may have been written
 * after all. The bucket's lifecycle removes what a dead process or a failed removal leaves.
 *
 * Throws the errors of `createRequest` and of `measure`, and `ValidationError` for reference videos that cannot be used. Throws
 * `ServiceError` with `rate_limited` when too many are being measured, or when the account's allowance of the hour is used up.
 */
export const createVideo = (
  account: Account,
  submission: Submission<NewVideoRequest>,
  facts: CreationFacts,
  measure = invokeMeasureClips,
  discard = invokeDiscardClips,
): Promise<Creation> =>
  createRequest(account, submission, facts, async (judged) => {
    const { request } = judged;
    if (!hasClips(request)) return writeCreation(judged);
    const limits = clipLimitsOf(request.model, facts);
    const clips = {
      requestId: request.requestId,
      urls: await fetchableUrls(request.referenceVideos, judged.now),
      longestSeconds: limits.referenceVideoMaxSeconds ?? Number.MAX_SAFE_INTEGER,
    };
    const { accountId, earnedWork } = account;
    const places = await waitingLimits(
      'clips',
      accountId,
      {
        places: CLIP_PLACES,
        leaseSeconds: LEASE_SECONDS,
        allowance: workAllowance(earnedWork, 'clips', isThrottled),
      },
      judged.now,
    );
    let measures: ClipMeasure[] | undefined;
    let measured: VideoRequest | undefined;
    try {
      measures = await withPlaces(places, systemClock, tooManyClips, () => measure(clips));
      measured = withMeasures(request, measures, limits);
      const written = await writeCreation({ ...judged, request: measured });
      if (written.kind === 'repeated') await discard(clips);
      return written;
    } catch (error) {
      const mayBeCopied = measures ? measures.some(isCopied) : !isThrottled(error);
      const mayBeWritten = measured !== undefined && leavesOutcomeOpen(error);
      if (mayBeCopied && !mayBeWritten) await discard(clips);
      throw error;
    }
  });

/** Longer than any measuring takes. */
const MEASURING_SECONDS = 60;

/** URLs at which files can be fetched for a minute: those of our own files, given by their handles, are signed. */
const fetchableUrls = async (inputs: readonly string[], now: Date): Promise<string[]> => {
  if (!inputs.some((text) => parseHandle(text))) return [...inputs];
  const sign = await loadUrlSigner();
  const until = addSeconds(toInstant(now), MEASURING_SECONDS);
  return inputs.map((text) => (parseHandle(text) ? sign(text, until) : text));
};

/** The limits of a model on reference videos. Together they have the most seconds for which no route of it refuses early. */
const clipLimitsOf = (modelId: string, { credentials, left }: CreationFacts): ClipLimits => ({
  ...findVideoModel(modelId),
  routeSeconds: Math.max(
    ...earlyLimitsOf(modelId, credentials, left).map(
      ({ referenceVideosSeconds = Number.POSITIVE_INFINITY }) => referenceVideosSeconds,
    ),
  ),
});

const isCopied = (measure: ClipMeasure): boolean => 'extension' in measure && measure.extension !== undefined;

/** Measuring never began, so it cost nothing and there are no copies. */
const isThrottled = (error: unknown): boolean => error instanceof ServiceError;

/** The request with what measuring its clips found. Throws `ValidationError` when they cannot be used. */
const withMeasures = (
  request: VideoRequest,
  measures: readonly ClipMeasure[],
  limits: ClipLimits,
): VideoRequest => {
  const { requestId, durationSec } = request;
  const fields = clipProblems(durationSec, measures, limits);
  if (Object.keys(fields).length > 0) throw new ValidationError(fields);
  const extensions = measures.flatMap((one) => ('extension' in one ? (one.extension ?? []) : []));
  if (extensions.length < measures.length) throw new Error('A reference video was measured, but not copied.');
  return withClips(request, clipKeys(requestId, extensions), billedSeconds(durationSec, measures));
};
