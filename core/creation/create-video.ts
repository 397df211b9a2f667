import type { Account } from '../accounts/accounts.ts';
import { type Clock, systemClock } from '../clock.ts';
import { accountLimit, withinLimits } from '../concurrency/in-flight.ts';
import { workAllowance } from '../concurrency/work-allowance.ts';
import { ServiceError, ValidationError } from '../errors.ts';
import { clipKeys } from '../files/clip-keys.ts';
import { earlyLimitsOf } from '../provider-calls/model-routes.ts';
import {
  type ClipMeasure,
  type Clips,
  type DiscardClips,
  type MeasureClips,
  tooManyClips,
} from './clip-measuring.ts';
import { type Creation, createRequest } from './create-request.ts';
import { billedSeconds, clipProblems, type NewVideoRequest } from './create-video-rules.ts';
import type { CreationFacts } from './creation-facts.ts';
import { invokeDiscardClips, invokeMeasureClips } from './invoke-measure-clips.ts';
import type { Submission } from './submission.ts';

/** How many creations of one account may measure clips at once. All accounts share the concurrency of `measure-clips`. */
export const CLIP_PLACES = 4;
/** Longer than all attempts of a call to `measure-clips` (`CALL_LIMITS`). */
const LEASE_SECONDS = 25;

/**
 * Accepts a request for a video like `createRequest`. Its reference videos are copied into the bucket and measured last, once
 * everything else allows it and the balance covers the output alone. `discard` removes the copies of a creation that is refused
 * in the end. The bucket's lifecycle removes what a dead process or a failed removal leaves. Throws `ServiceError` with `rate_limited` when too
 * many of the account, or of the whole service, are being measured. Throws the same when the account's allowance of the hour is used up, and
 * the errors of `measure`.
 */
export const createVideo = (
  account: Account,
  submission: Submission<NewVideoRequest>,
  facts: CreationFacts,
  measure: MeasureClips = invokeMeasureClips,
  clock: Clock = systemClock,
  discard: DiscardClips = invokeDiscardClips,
): Promise<Creation> =>
  createRequest(account, submission, facts, {
    complete: async (creation, requestId) => {
      if (creation.referenceVideos.length === 0) return creation;
      const clips = clipsToCopy(creation, requestId);
      const measures = await measureInTurn(account, clips, { measure, clock, discard });
      const { referenceVideosSeconds } = earlyLimitsOf(creation.model.id);
      const fields = clipProblems(creation, measures, referenceVideosSeconds);
      const extensions = measures.flatMap((one) => ('extension' in one ? (one.extension ?? []) : []));
      const isRefused = Object.keys(fields).length > 0;
      if (!isRefused && extensions.length === measures.length) {
        return {
          ...creation,
          billedSeconds: billedSeconds(creation.durationSec, measures),
          clips: clipKeys(requestId, extensions),
        };
      }
      if (extensions.length > 0) await discard(clips);
      throw isRefused
        ? new ValidationError(fields)
        : new Error('A reference video was measured, but not copied.');
    },
    discard: async (creation, requestId) => {
      if (creation.referenceVideos.length > 0) await discard(clipsToCopy(creation, requestId));
    },
  });

const clipsToCopy = ({ model, referenceVideos }: NewVideoRequest, requestId: string): Clips => ({
  requestId,
  urls: referenceVideos,
  longestSeconds: model.referenceVideoMaxSeconds ?? Number.MAX_SAFE_INTEGER,
});

/** Copies and measures clips when it is their turn. What may have been copied is removed when that fails. */
const measureInTurn = async (
  { accountId, earnedWork }: Account,
  clips: Clips,
  { measure, clock, discard }: { measure: MeasureClips; clock: Clock; discard: DiscardClips },
): Promise<ClipMeasure[]> => {
  try {
    const limit = accountLimit('clips', accountId, {
      places: CLIP_PLACES,
      leaseSeconds: LEASE_SECONDS,
      allowance: workAllowance(earnedWork, 'clips', isThrottled),
    });
    const measured = await withinLimits([limit], clock, () => measure(clips));
    if (!measured.ran) throw tooManyClips();
    return measured.result;
  } catch (error) {
    if (!isThrottled(error)) await discard(clips);
    throw error;
  }
};

/** Measuring never began, so it cost nothing and there are no copies. */
const isThrottled = (error: unknown): boolean => error instanceof ServiceError;
