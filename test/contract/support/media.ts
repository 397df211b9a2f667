import { ALL_FORMATS, BufferSource, Input } from 'mediabunny';
import type { FetchedFile } from './files.ts';

/** What the bytes of a video file say: the container's type, the codec, the pixels and the seconds. */
export const measureVideoFile = async ({ bytes }: Pick<FetchedFile, 'bytes'>) => {
  const input = new Input({ source: new BufferSource(bytes), formats: ALL_FORMATS });
  const video = await input.getPrimaryVideoTrack();
  if (!video) throw new Error('The file has no picture.');
  return {
    type: (await input.getMimeType()).split(';')[0],
    codec: video.codec,
    size: `${video.displayWidth}x${video.displayHeight}`,
    seconds: await input.computeDuration(),
  };
};
