import { createVideo } from '../../core/creation/create-video.ts';
import { parseVideoRequest } from '../../core/creation/create-video-rules.ts';
import { routeText } from '../../core/routes.ts';
import { creationHandler } from '../http/creation-handler.ts';

/** POST /v1/videos. 202 with the queued record; 400, 401, 402, 403, 409, 422, 429, 503. */
export const handler = creationHandler(routeText('create-video'), parseVideoRequest, createVideo);
