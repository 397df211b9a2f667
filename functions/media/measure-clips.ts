import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import { type ClipMeasures, ClipUrls } from '../../core/creation/clip-measuring.ts';
import { measureReferenceVideos } from '../../core/creation/reference-videos.ts';
import { logger } from '../../core/observability.ts';
import { endsEarly } from '../time-limit.ts';

/**
 * Measures reference videos for `create-video`. It reads what strangers' servers send, and so has access to nothing
 * else. Throws when it has not ended 1 s before its time limit.
 */
export const handler = middy<unknown, ClipMeasures>(
  endsEarly(1_000, () => {
    throw new Error('The function ran out of time.');
  }),
)
  .use(injectLambdaContext(logger, { resetKeys: true }))
  .handler(async (event) => ({ measures: await measureReferenceVideos(ClipUrls.parse(event).urls) }));
