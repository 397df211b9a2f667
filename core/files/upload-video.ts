import { SpooledVideo } from '@generation-service/media/spooled-video';
import type { VideoType } from '@generation-service/media/video-type';
import { type FileKind, type UploadWay, uploadFile } from './upload.ts';

/**
 * Streams a video into the bucket as `uploadFile` does, and has the same bytes measured from this machine's disk before its object
 * appears, so that the measured file is the stored file. Throws what `uploadFile` and `measure` throw, and leaves no object then.
 */
export const uploadVideo = async <Measured>(
  body: AsyncIterable<Uint8Array>,
  kind: FileKind<VideoType>,
  keyOf: (type: VideoType) => string,
  way: UploadWay,
  measure: (video: SpooledVideo) => Promise<Measured>,
): Promise<{ type: VideoType; measured: Measured; objectKey: string; sizeBytes: number }> => {
  const video = new SpooledVideo();
  const results: Measured[] = [];
  const passing = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      await video.write(chunk);
      yield chunk;
    }
    results.push(await measure(video));
  };
  try {
    const { fileType, ...stored } = await uploadFile(passing(), kind, keyOf, way);
    const [measured] = results as [Measured];
    return { type: fileType, measured, ...stored };
  } finally {
    await video.close();
  }
};
