import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import { type ClipMeasures, Clips } from '../../core/creation/clip-measuring.ts';
import { copyReferenceVideos } from '../../core/creation/reference-videos.ts';
import { logger } from '../../core/observability.ts';
import { endsEarly } from '../time-limit.ts';

/**
 * Copies reference videos into the bucket for `create-video`, and measures them. It reads what strangers' servers send, and so
 * may do nothing else: it puts copies under their own prefix and reads nothing. Throws when it has not ended 1 s before its time
 * limit.
 */
export const handler = middy<unknown, ClipMeasures>(
  endsEarly(1_000, () => {
    throw new Error('The function ran out of time.');
  }),
)
  .use(injectLambdaContext(logger, { resetKeys: true }))
  .handler(async (event) => ({ measures: await copyReferenceVideos(Clips.parse(event)) }));
