import type { Account } from '../accounts/accounts.ts';
import { type Creation, createRequest } from './create-request.ts';
import { billedSeconds, type ClipMeasure, clipProblems } from './create-video-rules.ts';
import type { CreationFacts } from './creation-facts.ts';
import { withFieldErrors } from './creation-fields.ts';
import { repeatedRequestId } from './idempotency.ts';
import { measureReferenceVideos } from './reference-videos.ts';
import type { VideoSubmission } from './submission.ts';

/**
 * Accepts a request for a video like `createRequest`, after measuring its reference videos: a refusal names
 * wrong ones along with the other wrong fields. Does not measure again for a repeated submission.
 */
export const createVideo = async (
  account: Account,
  submission: VideoSubmission,
  facts: CreationFacts,
  measure: (urls: readonly string[]) => Promise<ClipMeasure[]> = measureReferenceVideos,
): Promise<Creation> => {
  const isRepeated = repeatedRequestId(submission.idempotency, facts.idempotencyRecord) !== undefined;
  const measured = isRepeated ? submission : await withMeasuredClips(submission, measure);
  return createRequest(account, measured, facts);
};

const withMeasuredClips = async (
  submission: VideoSubmission,
  measure: (urls: readonly string[]) => Promise<ClipMeasure[]>,
): Promise<VideoSubmission> => {
  const { clips } = submission;
  if (!clips) return submission;
  const measures = await measure(clips.urls);
  const parsed = withFieldErrors(submission.parsed, clipProblems(clips, measures));
  if (!parsed.ok) return { ...submission, parsed };
  const { creation } = parsed;
  const billed = { ...creation, billedSeconds: billedSeconds(creation.durationSec, measures) };
  return { ...submission, parsed: { ok: true, creation: billed } };
};
