import type { ImageInput, VideoInput } from './input-answers.ts';
import type { ImageRequest, VideoRequest } from './request-rules.ts';

/** A caller's URL as answers show it: without query and fragment. A query may hold a signature, which a read must not give away. */
const unsigned = (url: string): string => url.replace(/[?#].*$/s, '');

const unsignedIf = <Name extends string>(name: Name, url: string | undefined) =>
  (url === undefined ? {} : { [name]: unsigned(url) }) as { [Key in Name]?: string };

/** What was asked of a request for images. */
export const imageInput = (request: ImageRequest): ImageInput => {
  const { size, aspectRatio, images, sequential, references, webhookUrl } = request;
  return {
    size,
    aspectRatio,
    n: sequential ? 1 : images,
    references: references.map(unsigned),
    ...(sequential && { sequential: 'auto', sequentialOptions: { maxImages: images } }),
    ...unsignedIf('webhookUrl', webhookUrl),
  };
};

/** What was asked of a request for a video. */
export const videoInput = (request: VideoRequest): VideoInput => {
  const { resolution, durationSec, ratio, image, lastFrame, webhookUrl } = request;
  return {
    resolution,
    durationSec,
    ...(ratio !== undefined && { ratio }),
    ...unsignedIf('image', image),
    ...unsignedIf('lastFrame', lastFrame),
    referenceImages: request.referenceImages.map(unsigned),
    referenceVideos: request.referenceVideos.map(unsigned),
    referenceAudios: request.referenceAudios.map(unsigned),
    ...unsignedIf('webhookUrl', webhookUrl),
  };
};
