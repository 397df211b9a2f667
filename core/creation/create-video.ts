import type { Account } from '../accounts/accounts.ts';
import { type Clock, systemClock } from '../clock.ts';
import { ValidationError } from '../errors.ts';
import { accountLimit, hostDigest, hostLimit, withinLimits } from '../outbound/in-flight.ts';
import { earlyLimitsOf } from '../provider-calls/model-routes.ts';
import { type MeasureClips, tooManyClips } from './clip-measuring.ts';
import { type Creation, createRequest } from './create-request.ts';
import { billedSeconds, clipProblems, type NewVideoRequest } from './create-video-rules.ts';
import type { CreationFacts } from './creation-facts.ts';
import type { Submission } from './submission.ts';

/** How many creations of one account, and how many that fetch from one host, may measure clips at once. */
export const CLIP_PLACES = { account: 4, host: 8 };
/** Longer than all attempts of a call to `measure-clips` (`CALL_LIMITS`). */
const LEASE_SECONDS = 25;

/** Loads the Lambda client, which is large, only for reference videos. */
const invokeLater: MeasureClips = async (urls) => {
  const { invokeMeasureClips } = await import('./invoke-measure-clips.ts');
  return invokeMeasureClips(urls);
};

/**
 * Accepts a request for a video like `createRequest`. Its reference videos are measured last, once everything else
 * allows it and the balance covers the output alone. Throws `ServiceError` with `rate_limited` when too many of the account,
 * of a host, or of the whole service are being measured, and what `measure` throws.
 */
export const createVideo = (
  account: Account,
  submission: Submission<NewVideoRequest>,
  facts: CreationFacts,
  measure: MeasureClips = invokeLater,
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
  if (!measured.ran) throw tooManyClips();
  const measures = measured.result;
  const { referenceVideosSeconds } = earlyLimitsOf(creation.model.id);
  const fields = clipProblems(creation, measures, referenceVideosSeconds);
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
