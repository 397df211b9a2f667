import type { Account } from '../accounts/accounts.ts';
import { type Clock, systemClock } from '../clock.ts';
import { accountLimit, withPlaces } from '../concurrency/in-flight.ts';
import { workAllowance } from '../concurrency/work-allowance.ts';
import { ServiceError, ValidationError } from '../errors.ts';
import { clipKeys } from '../files/clip-keys.ts';
import { earlyLimitsOf } from '../provider-calls/model-routes.ts';
import { leavesOutcomeOpen } from '../table/outcomes.ts';
import {
  type ClipMeasure,
  type Clips,
  type DiscardClips,
  type MeasureClips,
  tooManyClips,
} from './clip-measuring.ts';
import {
  type AllowedCreation,
  allowCreation,
  type Creation,
  completeCreation,
  type RepeatedCreation,
  tellingExhaustion,
  type WrittenCreation,
  writeRequest,
} from './create-request.ts';
import { billedSeconds, clipProblems, type NewVideoRequest } from './create-video-rules.ts';
import type { CreationFacts } from './creation-facts.ts';
import { invokeDiscardClips, invokeMeasureClips } from './invoke-measure-clips.ts';
import type { Submission } from './submission.ts';

/** How many creations of one account may measure clips at once. All accounts share the concurrency of `measure-clips`. */
export const CLIP_PLACES = 4;
/** Longer than all attempts of a call to `measure-clips` (`CALL_LIMITS`). */
const LEASE_SECONDS = 25;

/**
 * Accepts a request for a video, in the steps of `createImages`. Its reference videos are copied into the bucket and measured once
 * everything else allows it and the balance covers the output alone. `discard` removes the copies of a creation that is refused
 * in the end, unless it may have been written after all. The bucket's lifecycle removes what a dead process or a failed removal leaves.
 *
 * Throws the errors of `createImages` and of `measure`, and `ValidationError` for reference videos that cannot be used. Throws
 * `ServiceError` with `rate_limited` when too many are being measured, or when the account's allowance of the hour is used up.
 */
export const createVideo = async (
  account: Account,
  submission: Submission<NewVideoRequest>,
  facts: CreationFacts,
  measure: MeasureClips = invokeMeasureClips,
  clock: Clock = systemClock,
  discard: DiscardClips = invokeDiscardClips,
): Promise<Creation> => {
  const done = await tellingExhaustion(account, submission.now, async () => {
    const allowed = await allowCreation(account, submission, facts);
    if (allowed.kind === 'repeated') return allowed;
    if (allowed.creation.referenceVideos.length === 0) return writeRequest(allowed);
    const routeSeconds = mostClipSeconds(allowed.creation.model.id, facts.credentials);
    return writeWithClips(allowed, { measure, clock, discard, routeSeconds });
  });
  return completeCreation(done);
};

/** Measures and copies the clips of a creation, and writes its request. */
const writeWithClips = async (
  allowed: AllowedCreation<NewVideoRequest>,
  work: Measuring,
): Promise<WrittenCreation | RepeatedCreation> => {
  const clips = clipsToCopy(allowed);
  const creation = await measured(allowed, clips, work);
  let written: WrittenCreation | RepeatedCreation;
  try {
    written = await writeRequest({ ...allowed, creation });
  } catch (error) {
    if (!leavesOutcomeOpen(error)) await work.discard(clips);
    throw error;
  }
  if (written.kind === 'repeated') await work.discard(clips);
  return written;
};

const clipsToCopy = ({ requestId, creation }: AllowedCreation<NewVideoRequest>): Clips => ({
  requestId,
  urls: creation.referenceVideos,
  longestSeconds: creation.model.referenceVideoMaxSeconds ?? Number.MAX_SAFE_INTEGER,
});

/** The most seconds of clips for which no route of a model refuses early. */
const mostClipSeconds = (modelId: string, credentials: CreationFacts['credentials']): number =>
  Math.max(
    ...earlyLimitsOf(modelId, credentials).map(
      ({ referenceVideosSeconds = Number.POSITIVE_INFINITY }) => referenceVideosSeconds,
    ),
  );

interface Measuring {
  measure: MeasureClips;
  clock: Clock;
  discard: DiscardClips;
  /** The most seconds of clips together. */
  routeSeconds: number;
}

/**
 * Copies and measures clips when it is their turn. Returns the creation with their lengths and copies. When it rejects, what may have
 * been copied is removed.
 */
const measured = async (
  { account, requestId, creation }: AllowedCreation<NewVideoRequest>,
  clips: Clips,
  { measure, clock, discard, routeSeconds }: Measuring,
): Promise<NewVideoRequest> => {
  let measures: ClipMeasure[] | undefined;
  try {
    const limit = accountLimit('clips', account.accountId, {
      places: CLIP_PLACES,
      leaseSeconds: LEASE_SECONDS,
      allowance: workAllowance(account.earnedWork, 'clips', isThrottled),
    });
    measures = await withPlaces([limit], clock, tooManyClips, () => measure(clips));
    return withClips(creation, requestId, measures, routeSeconds);
  } catch (error) {
    const mayBeCopied = measures ? measures.some(isCopied) : !isThrottled(error);
    if (mayBeCopied) await discard(clips);
    throw error;
  }
};

const isCopied = (measure: ClipMeasure): boolean => 'extension' in measure && measure.extension !== undefined;

/** The creation with what measuring its clips found. Throws `ValidationError` when they cannot be used. */
const withClips = (
  creation: NewVideoRequest,
  requestId: string,
  measures: readonly ClipMeasure[],
  routeSeconds: number,
): NewVideoRequest => {
  const fields = clipProblems(creation, measures, routeSeconds);
  if (Object.keys(fields).length > 0) throw new ValidationError(fields);
  const extensions = measures.flatMap((one) => ('extension' in one ? (one.extension ?? []) : []));
  if (extensions.length < measures.length) throw new Error('A reference video was measured, but not copied.');
  return {
    ...creation,
    billedSeconds: billedSeconds(creation.durationSec, measures),
    clips: clipKeys(requestId, extensions),
  };
};

/** Measuring never began, so it cost nothing and there are no copies. */
const isThrottled = (error: unknown): boolean => error instanceof ServiceError;
