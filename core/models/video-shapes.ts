import type { VideoModel } from './catalog.ts';
import { type Dimensions, parseExplicitSize } from './image-sizes.ts';

/** Shorter sides of resolutions whose names do not say them, in pixels. */
const NAMED_SIDES = new Map([
  ['2k', 1440],
  ['4k', 2160],
]);

/**
 * The shorter side of a video in pixels, by the name of its resolution (`720p`: 720); undefined for a name without a number of
 * lines.
 */
const shortSideOf = (resolution: string): number | undefined => {
  const [, lines] = /^(\d{2,5})p$/i.exec(resolution) ?? [];
  return lines === undefined ? NAMED_SIDES.get(resolution.toLowerCase()) : Number(lines);
};

/** The pixels of a video by resolution and ratio, its sides even; undefined for a ratio that the inputs decide. */
export const videoDimensions = (resolution: string, ratio = ''): Dimensions | undefined => {
  const short = shortSideOf(resolution);
  const [wide, high] = (/^(\d{1,2}):(\d{1,2})$/.exec(ratio) ?? []).slice(1).map(Number);
  if (short === undefined || !wide || !high) return undefined;
  const long = 2 * Math.round((short * Math.max(wide, high)) / Math.min(wide, high) / 2);
  return wide >= high ? { width: long, height: short } : { width: short, height: long };
};

/** The fields of a creation that a size stands for; without a ratio where the model takes none. */
export interface VideoShape {
  resolution: string;
  ratio?: string;
}

/** Where a model takes no ratio, its first frame decides the shape, and a size of either of these the resolution. */
const SHAPES_OF_FRAMES = ['16:9', '9:16', '1:1', '4:3', '3:4'];

/** The resolution and ratio of a model that make a video of a size `<width>x<height>`, or why none do. */
export const videoShapeOf = (model: VideoModel, size: string): VideoShape | { problem: string } => {
  const asked = parseExplicitSize(size);
  const shapes = model.resolutions.flatMap((resolution) =>
    (model.ratios ?? SHAPES_OF_FRAMES).map((ratio) => ({
      ...{ resolution, ratio },
      made: videoDimensions(resolution, ratio),
    })),
  );
  const found = shapes.find(({ made }) => made?.width === asked?.width && made?.height === asked?.height);
  if (asked && found) {
    const { resolution, ratio } = found;
    return model.ratios ? { resolution, ratio } : { resolution };
  }
  const sizes = shapes.flatMap(({ made }) => (made ? [`${made.width}x${made.height}`] : []));
  return { problem: `must be one of ${sizes.join(', ')}` };
};
