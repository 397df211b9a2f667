import { createVideo } from '../../core/create-video.ts';
import { parseVideo } from '../../core/create-video-rules.ts';
import { creationHandler } from '../http/creation-handler.ts';

/** POST /v1/videos. 202 with the queued record; 400, 401, 402, 403, 409, 422, 429, 503. */
export const handler = creationHandler('POST /v1/videos', parseVideo, createVideo);
