import { aVideo } from '../../../../packages/media/test/videos.ts';

/** A video of 5.2 seconds. */
export const clip = await aVideo({ seconds: 5.2 });

/** A large video whose index is last. */
export const large = await aVideo({ seconds: 10, layout: 'index-last', frameBytes: 120_000 });

/** A large video whose index is first. */
export const aLargeClip = await aVideo({ seconds: 10, frameBytes: 120_000 });
