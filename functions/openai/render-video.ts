import { videoDimensions } from '../../core/models/video-shapes.ts';
import { type RecordStatus, statusAt, type VideoRequest } from '../../core/requests/request-rules.ts';
import { type Instant, toEpochSeconds } from '../../core/time.ts';

/** A video as OpenAI's clients read it. */
export interface OpenAiVideo {
  id: string;
  object: 'video';
  status: 'queued' | 'in_progress' | 'completed' | 'failed';
  /** 100 once the video is made, else 0: no provider says how far it is. */
  progress: 0 | 100;
  model: string;
  prompt: string;
  /** The length that was asked for. */
  seconds: string;
  /** `<width>x<height>`, or the resolution where that is not known before the video is made. */
  size: string;
  created_at: number;
  completed_at: number | null;
  expires_at: number | null;
  error: { code: string; message: string } | null;
  remixed_from_video_id: null;
}

/** The statuses of requests in OpenAI's words. An expired video was completed: `expires_at` is past. */
const STATUS: Record<RecordStatus, OpenAiVideo['status']> = {
  queued: 'queued',
  processing: 'in_progress',
  succeeded: 'completed',
  failed: 'failed',
  expired: 'completed',
};

const secondsOf = (instant: Instant | undefined): number | null =>
  instant === undefined ? null : toEpochSeconds(instant);

/** A request for a video in OpenAI's shape, as it reads at `now`. */
export const renderVideo = (request: VideoRequest, now: Date): OpenAiVideo => {
  const { requestId, model, prompt, resolution, ratio, durationSec, error, outputs = [] } = request;
  const status = STATUS[statusAt(request, now)];
  const [made] = outputs;
  const { width, height } = { ...videoDimensions(resolution, ratio), ...made };
  return {
    ...{ id: requestId, object: 'video', status, progress: status === 'completed' ? 100 : 0, model, prompt },
    seconds: String(durationSec),
    size: width === undefined || height === undefined ? resolution : `${width}x${height}`,
    created_at: toEpochSeconds(request.createdAt),
    completed_at: status === 'completed' ? secondsOf(request.finishedAt) : null,
    expires_at: secondsOf(request.expiresAt),
    error: status === 'failed' && error ? { code: error.code, message: error.message } : null,
    remixed_from_video_id: null,
  };
};
