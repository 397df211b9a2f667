import type { Account } from '../accounts/accounts.ts';
import { type Clock, systemClock } from '../clock.ts';
import { ServiceError, ValidationError } from '../errors.ts';
import { clipKeys } from '../files/clip-keys.ts';
import { accountLimit, hostDigest, hostLimit, withinLimits } from '../outbound/in-flight.ts';
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

/** How many creations of one account, and how many that fetch from one host, may measure clips at once. */
export const CLIP_PLACES = { account: 4, host: 8 };
/** Longer than all attempts of a call to `measure-clips` (`CALL_LIMITS`). */
const LEASE_SECONDS = 25;

/**
 * Accepts a request for a video like `createRequest`. Its reference videos are copied into the bucket and measured last, once
 * everything else allows it and the balance covers the output alone. Copies of a creation that is refused in the end are removed
 * by `discard`; those of one whose process dies, or that could not be removed, by the bucket's lifecycle. Throws `ServiceError` with `rate_limited` when too
 * many of the account, of a host, or of the whole service are being measured, and what `measure` throws.
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
      const measures = await measureInTurn(account.accountId, clips, { measure, clock, discard });
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
  accountId: string,
  clips: Clips,
  { measure, clock, discard }: { measure: MeasureClips; clock: Clock; discard: DiscardClips },
): Promise<ClipMeasure[]> => {
  try {
    const measured = await withinLimits(limitsOf(accountId, clips.urls), clock, () => measure(clips));
    if (!measured.ran) throw tooManyClips();
    return measured.result;
  } catch (error) {
    // Nobody began to measure.
    const isThrottled = error instanceof ServiceError;
    if (!isThrottled) await discard(clips);
    throw error;
  }
};

const limitsOf = (accountId: string, urls: readonly string[]) => {
  const hosts = new Map(urls.map((url) => [hostDigest(url), url]));
  return [
    accountLimit('clips', accountId, { places: CLIP_PLACES.account, leaseSeconds: LEASE_SECONDS }),
    ...[...hosts.values()].map((url) =>
      hostLimit('clips', url, { places: CLIP_PLACES.host, leaseSeconds: LEASE_SECONDS }),
    ),
  ];
};
