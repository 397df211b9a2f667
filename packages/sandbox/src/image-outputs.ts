import { type Directives, faultOf } from './directives.ts';
import type { Media } from './media/media.ts';
import type { Outputs } from './outputs.ts';

/** An image request, common to both upstreams. */
export type ImageRequest = {
  model: string;
  directives: Directives;
  width: number;
  height: number;
  format: 'png' | 'jpeg';
  watermark: boolean;
};

/** Draws the image at this index (from 0) and returns the encoded bytes. */
export const drawOutput = (
  { drawImage }: Media,
  { model, directives, width, height, format, watermark }: ImageRequest,
  index: number,
): Promise<Buffer> =>
  drawImage({
    width,
    height,
    format,
    watermark,
    index,
    text: directives.text,
    caption: `${model} ${width}x${height} #${index}`,
  });

/**
 * Adds the image at this index (from 0) to the outputs and returns its URL. It is drawn on the first fetch. `madeAt` is
 * in epoch milliseconds.
 */
export const addImageOutput = (
  outputs: Outputs,
  image: ImageRequest,
  index: number,
  madeAt?: number,
): string =>
  outputs.add(
    {
      contentType: `image/${image.format}`,
      extension: image.format,
      produce: () => drawOutput(outputs.media, image, index),
    },
    { fault: faultOf(image.directives, index), ...(madeAt !== undefined && { madeAt }) },
  );
