import type { Account } from '../accounts/accounts.ts';
import { type Clock, systemClock } from '../clock.ts';
import { ServiceError, ValidationError } from '../errors.ts';
import { accountLimit, hostDigest, hostLimit, withinLimits } from '../outbound/in-flight.ts';
import { type Creation, createRequest } from './create-request.ts';
import { billedSeconds, type ClipMeasure, clipProblems, type NewVideoRequest } from './create-video-rules.ts';
import type { CreationFacts } from './creation-facts.ts';
import { measureReferenceVideos } from './reference-videos.ts';
import type { Submission } from './submission.ts';

/** How many creations of one account, and how many that fetch from one host, may measure clips at once. */
export const CLIP_PLACES = { account: 4, host: 8 };
/** Measuring takes at most 8 s. */
const LEASE_SECONDS = 15;
/** Most measurements take well under a second. */
const RETRY_AFTER_SECONDS = 2;

/** Measures the videos at these URLs, in their order. */
export type MeasureClips = (urls: readonly string[]) => Promise<ClipMeasure[]>;

/**
 * Accepts a request for a video like `createRequest`. Its reference videos are measured last, once everything else
 * allows it and the balance covers the output alone. Throws `ServiceError` with `rate_limited` when too many of the account,
 * or of a host, are being measured.
 */
export const createVideo = (
  account: Account,
  submission: Submission<NewVideoRequest>,
  facts: CreationFacts,
  measure: MeasureClips = measureReferenceVideos,
  clock: Clock = systemClock,
): Promise<Creation> =>
  createRequest(account, submission, facts, (creation) =>
    creation.referenceVideos.length === 0
      ? Promise.resolve(creation)
      : withMeasuredClips(account.accountId, creation, measure, clock),
  );

const withMeasuredClips = async (
  accountId: string,
  creation: NewVideoRequest,
  measure: MeasureClips,
  clock: Clock,
): Promise<NewVideoRequest> => {
  const urls = creation.referenceVideos;
  const measured = await withinLimits(limitsOf(accountId, urls), clock, () => measure(urls));
  if (!measured.ran) throw tooMany();
  const measures = measured.result;
  const fields = clipProblems(creation, measures);
  if (Object.keys(fields).length > 0) throw new ValidationError(fields);
  return { ...creation, billedSeconds: billedSeconds(creation.durationSec, measures) };
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

const tooMany = (): ServiceError =>
  new ServiceError('rate_limited', 'Too many reference videos are being measured at once.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
