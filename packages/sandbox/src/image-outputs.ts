import { type Directives, isBroken } from './directives.ts';
import { drawImage } from './draw-image.ts';
import type { Outputs } from './outputs.ts';

/** One image of a call, as an upstream describes it. */
export type ImageRequest = {
  model: string;
  directives: Directives;
  width: number;
  height: number;
  format: 'png' | 'jpeg';
  watermark: boolean;
};

/** Draws the output of this index (from 0) now. */
export const drawOutput = (
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

/** The URL of the output of this index (from 0), drawn when it is first fetched. `madeAt` is in epoch milliseconds. */
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
      produce: () => drawOutput(image, index),
    },
    { isBroken: isBroken(image.directives, index), ...(madeAt !== undefined && { madeAt }) },
  );
