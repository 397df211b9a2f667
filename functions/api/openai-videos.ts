import { apiHandler } from '../http/api-handler.ts';
import { openAiVideoErrorResponse } from '../openai/errors.ts';
import { serveVideos } from '../openai/videos.ts';

/**
 * The five routes of videos for OpenAI's clients, under /openai/v1/videos. 200, or 302 with a video's file; 400, 401, 403, 404, 409, 429, 500,
 * 503.
 */
export const handler = apiHandler(serveVideos, openAiVideoErrorResponse);
