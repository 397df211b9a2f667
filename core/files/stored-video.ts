import { GetObjectCommand } from '@aws-sdk/client-s3';
import { requiredEnv } from '../environment.ts';
import { measureVideo, type VideoFacts } from '../media/measure-video.ts';
import { bucket } from './bucket.ts';

/**
 * Measures a video in the bucket, of which only the index is read. Throws `UnreadableVideoError` when it is no
 * video of which a length can be told.
 */
export const measureStoredVideo = (objectKey: string, sizeBytes: number): Promise<VideoFacts> =>
  measureVideo({
    sizeBytes: () => sizeBytes,
    read: async (start, end) => {
      const last = Math.min(end, sizeBytes) - 1;
      if (last < start) return new Uint8Array();
      const { Body } = await bucket.send(
        new GetObjectCommand({
          Bucket: requiredEnv('BUCKET_NAME'),
          Key: objectKey,
          Range: `bytes=${start}-${last}`,
        }),
      );
      if (!Body) throw new Error(`The object ${objectKey} came without its bytes.`);
      return Body.transformToByteArray();
    },
  });
