import type { ImageModel } from './catalog.ts';
import { PRESET_SIDE_PIXELS, type SizePreset } from './size-presets.ts';

/** Width and height in whole pixels. */
export interface Dimensions {
  width: number;
  height: number;
}

const EXPLICIT_SIZE = /^([1-9]\d{0,5})x([1-9]\d{0,5})$/;

const isPreset = (size: string): size is SizePreset => Object.hasOwn(PRESET_SIDE_PIXELS, size);

/** The dimensions of an explicit `<width>x<height>`; undefined for any other text. */
export const parseExplicitSize = (size: string): Dimensions | undefined => {
  const match = EXPLICIT_SIZE.exec(size);
  return match ? { width: Number(match[1]), height: Number(match[2]) } : undefined;
};

/** Why a model refuses a `size`; undefined for one of its presets and for a size within its bounds. */
export const sizeProblem = (model: ImageModel, size: string): string | undefined => {
  if (isPreset(size) && model.sizePresets.includes(size)) return undefined;
  const explicit = parseExplicitSize(size);
  if (!explicit) return `must be one of ${model.sizePresets.join(', ')} or <width>x<height> in whole pixels`;
  const { width, height } = explicit;
  const { minTotalPixels, maxTotalPixels, minAspectRatio, maxAspectRatio, minSide, maxSide } =
    model.explicitSize;
  const pixels = width * height;
  const ratio = width / height;
  const example = exampleSize(model);
  if (pixels < minTotalPixels) {
    return `${size} is too small: ${model.id} needs at least ${figure(minTotalPixels)} pixels ${example}`;
  }
  if (pixels > maxTotalPixels) {
    return `${size} is too large: ${model.id} takes at most ${figure(maxTotalPixels)} pixels ${example}`;
  }
  if (ratio < minAspectRatio || ratio > maxAspectRatio) {
    const bounds = `${ratioText(minAspectRatio)} to ${ratioText(maxAspectRatio)}`;
    return `has an aspect ratio outside ${bounds} ${example}`;
  }
  if (Math.min(width, height) < (minSide ?? 1)) {
    return `has a side below ${figure(minSide ?? 1)} pixels ${example}`;
  }
  if (maxSide !== undefined && Math.max(width, height) > maxSide) {
    return `has a side above ${figure(maxSide)} pixels ${example}`;
  }
  return undefined;
};

/**
 * A size that a model makes, as a refusal names it: the square of the default preset, or of another preset where `takes` refuses that
 * many pixels. Empty when no preset is taken.
 */
export const exampleSize = (
  { defaultSize, sizePresets }: ImageModel,
  takes: (pixels: number) => boolean = () => true,
): string => {
  const side = [defaultSize, ...sizePresets]
    .map((preset) => PRESET_SIDE_PIXELS[preset])
    .find((pixels) => takes(pixels ** 2));
  return side === undefined ? '' : `(e.g. ${side}x${side})`;
};

/** A number of pixels as people write it. */
export const figure = (pixels: number): string => pixels.toLocaleString('en');

/** A ratio as people write it: `1:16` for 0.0625. */
export const ratioText = (ratio: number): string => {
  const part = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 2 });
  return ratio < 1 ? `1:${part(1 / ratio)}` : `${part(ratio)}:1`;
};

/** The pixels that price an accepted `size`: a preset's square at any aspect ratio, else width times height. */
export const pricedPixels = (size: string): number => {
  const { width, height } = dimensionsOf(size, 'square');
  return width * height;
};

/**
 * The dimensions of an accepted size and aspect ratio. For a preset of side s: landscape is 1.25 s by
 * 0.703125 s, portrait its transpose, square and `auto` (unless the provider chooses) s by s. Throws for a size or ratio that this
 * version does not know: a provider would be paid for another picture.
 */
export const dimensionsOf = (size: string, aspectRatio: string): Dimensions => {
  const dimensions = knownDimensions(size, aspectRatio);
  if (!dimensions) throw new Error(`This version does not know the size ${size} in ${aspectRatio}.`);
  return dimensions;
};

/** As `dimensionsOf`; undefined for a size or ratio that this version does not know. */
export const knownDimensions = (size: string, aspectRatio: string): Dimensions | undefined => {
  if (!isPreset(size)) return parseExplicitSize(size);
  const side = PRESET_SIDE_PIXELS[size];
  const landscape = { width: side * 1.25, height: side * 0.703125 };
  if (aspectRatio === 'landscape') return landscape;
  if (aspectRatio === 'portrait') return { width: landscape.height, height: landscape.width };
  return aspectRatio === 'square' || aspectRatio === 'auto' ? { width: side, height: side } : undefined;
};
