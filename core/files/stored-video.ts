import { GetObjectCommand } from '@aws-sdk/client-s3';
import { requiredEnv } from '../environment.ts';
import { measureVideo, type VideoMeasurement } from '../media/measure-video.ts';
import { bucket } from './bucket.ts';

/**
 * Measures a video in the bucket by reading only its index. Throws `UnreadableVideoError` when it is not a
 * video or its duration cannot be determined.
 */
export const measureStoredVideo = (objectKey: string, sizeBytes: number): Promise<VideoMeasurement> =>
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
