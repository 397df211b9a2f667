import type { Account } from '../accounts/accounts.ts';
import { type Creation, type CreationFacts, createRequest, isReplay } from './create-request.ts';
import {
  billedSeconds,
  type ClipMeasure,
  clipProblems,
  type NewVideoRequest,
  type parseVideoRequest,
} from './create-video-rules.ts';
import { alsoWrong, type ParsedCreation } from './creation-fields.ts';
import type { Idempotency } from './idempotency.ts';
import { measureReferenceVideos } from './reference-videos.ts';

/** The body of a creation of a video, as `parseVideoRequest` reads it. */
export type ReadVideo = ReturnType<typeof parseVideoRequest>;

/**
 * Accepts a request for a video, as `createRequest` does, after the reference videos have been measured: a
 * wrong one is named with the other wrong fields, and nothing is written. A repeated creation is answered
 * without measuring again.
 */
export const createVideo = async (
  account: Account,
  video: ReadVideo,
  facts: CreationFacts,
  idempotency: Idempotency | undefined,
  now: Date,
  measure: (urls: readonly string[]) => Promise<ClipMeasure[]> = measureReferenceVideos,
): Promise<Creation> => {
  const parsed = isReplay(facts, idempotency) ? video.parsed : await withClips(video, measure);
  return createRequest(account, parsed, facts, idempotency, now);
};

const withClips = async (
  { parsed, clips }: ReadVideo,
  measure: (urls: readonly string[]) => Promise<ClipMeasure[]>,
): Promise<ParsedCreation<NewVideoRequest>> => {
  if (!clips) return parsed;
  const measures = await measure(clips.urls);
  const judged = alsoWrong(parsed, clipProblems(clips, measures));
  if (!judged.ok) return judged;
  const { creation } = judged;
  return {
    ok: true,
    creation: { ...creation, billedSeconds: billedSeconds(creation.durationSec, measures) },
  };
};
