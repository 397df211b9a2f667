import * as z from 'zod/mini';
import type { Medium } from '../errors.ts';

/** The content types of input files that a provider may take, by medium, each with its name in messages. */
export const INPUT_TYPES = {
  image: {
    'image/jpeg': 'JPEG',
    'image/png': 'PNG',
    'image/webp': 'WebP',
    'image/bmp': 'BMP',
    'image/tiff': 'TIFF',
    'image/gif': 'GIF',
    'image/heic': 'HEIC',
    'image/heif': 'HEIF',
  },
  video: { 'video/mp4': 'MP4', 'video/quicktime': 'QuickTime' },
  audio: { 'audio/mpeg': 'MP3', 'audio/wav': 'WAV' },
} as const satisfies Record<Medium, Record<string, string>>;
export type InputType = { [M in Medium]: keyof (typeof INPUT_TYPES)[M] }[Medium];

/** The facts of a file, measured by its bytes. */
export interface FileFacts {
  contentType: string;
  sizeBytes: number;
  /** A measure in pixels. */
  width?: number | undefined;
  height?: number | undefined;
  /** Of a PNG: whether it has an alpha channel or a transparent colour. */
  hasAlpha?: boolean | undefined;
  durationMs?: number | undefined;
  framesPerSecond?: number | undefined;
}

const positive = () => z.optional(z.number().check(z.positive()));

/** Limits of an upstream on each input file of a medium. Absent: none that is known. Sides in pixels, `maxRatio` of the longer side over the shorter. */
const FileLimits = z.strictObject({
  types: z.optional(z.array(z.string())),
  maxBytes: positive(),
  minSide: positive(),
  maxSide: positive(),
  maxPixels: positive(),
  maxRatio: positive(),
  /** False: a PNG must have none. */
  alpha: z.optional(z.boolean()),
  minSeconds: positive(),
  maxSeconds: positive(),
  /** Of all files of the medium together. */
  maxTotalSeconds: positive(),
  minFramesPerSecond: positive(),
});
export type FileLimits = z.infer<typeof FileLimits>;

/** Limits of an upstream on input files, by medium. */
export const InputLimits = z.strictObject({
  image: z.optional(FileLimits),
  video: z.optional(FileLimits),
  audio: z.optional(FileLimits),
});
export type InputLimits = z.infer<typeof InputLimits>;

/** Readers of whole milliseconds, and of frames that do not say how long they last, are off by a little. */
const FRAME_RATE_SLACK = 0.1;
const AUDIO_SLACK_MS = 100;

/** Why an upstream does not take a file, in words for its field: the measured value, and what is taken. Undefined when it takes the file. */
export const fileProblem = (facts: FileFacts, medium: Medium, limits: FileLimits): string | undefined => {
  const { contentType, sizeBytes, hasAlpha } = facts;
  if (limits.types && !limits.types.includes(contentType))
    return `is ${typeName(contentType)}; the model takes ${listOf(limits.types.map(typeName))}`;
  if (sizeBytes > (limits.maxBytes ?? Number.POSITIVE_INFINITY))
    return `has ${megabytes(sizeBytes)} MB; the model takes up to ${megabytes(limits.maxBytes)} MB`;
  if (limits.alpha === false && hasAlpha) return 'has an alpha channel; the model takes PNG without one';
  return pictureProblem(facts, limits) ?? timeProblem(facts, medium, limits);
};

const pictureProblem = ({ width, height }: FileFacts, limits: FileLimits): string | undefined => {
  if (width === undefined || height === undefined) return undefined;
  const { minSide = 1, maxSide = Number.POSITIVE_INFINITY, maxPixels, maxRatio } = limits;
  const [shorter, longer] = width < height ? [width, height] : [height, width];
  const has = `has ${width}x${height} pixels`;
  if (shorter < minSide || longer > maxSide)
    return `${has}; the model takes sides of ${rangeOf(limits.minSide, limits.maxSide)}`;
  if (maxPixels !== undefined && width * height > maxPixels)
    return `${has}, ${figure(width * height)} in all; the model takes up to ${figure(maxPixels)}`;
  if (maxRatio !== undefined && longer > maxRatio * shorter)
    return `${has}; the model takes aspect ratios of 1:${maxRatio} to ${maxRatio}:1`;
  return undefined;
};

const timeProblem = (
  { durationMs, framesPerSecond }: FileFacts,
  medium: Medium,
  limits: FileLimits,
): string | undefined => {
  const { minSeconds = 0, maxSeconds = Number.POSITIVE_INFINITY, minFramesPerSecond = 0 } = limits;
  const slackMs = medium === 'audio' ? AUDIO_SLACK_MS : 0;
  if (
    durationMs !== undefined &&
    (durationMs + slackMs < minSeconds * 1000 || durationMs - slackMs > maxSeconds * 1000)
  )
    return lasts(durationMs, rangeOf(limits.minSeconds, limits.maxSeconds));
  if (framesPerSecond !== undefined && framesPerSecond < minFramesPerSecond - FRAME_RATE_SLACK)
    return `has ${round(framesPerSecond)} frames a second; the model takes ${minFramesPerSecond} or more`;
  return undefined;
};

/** The message for a length that is not taken, both in seconds. */
export const lasts = (durationMs: number, taken: string): string =>
  `lasts ${durationMs / 1000} s; the model takes ${taken} s`;

/** Why an upstream does not take these files of a medium together. */
export const togetherProblem = (
  files: readonly Pick<FileFacts, 'durationMs'>[],
  medium: Medium,
  { maxTotalSeconds = Number.POSITIVE_INFINITY }: FileLimits,
): string | undefined => {
  const totalMs = files.reduce((sum, { durationMs = 0 }) => sum + durationMs, 0);
  const slackMs = medium === 'audio' ? AUDIO_SLACK_MS : 0;
  return totalMs - slackMs > maxTotalSeconds * 1000
    ? `last ${totalMs / 1000} s together; the model takes up to ${maxTotalSeconds} s`
    : undefined;
};

/** The name of a content type in messages. */
export const typeName = (contentType: string): string => {
  const names: Record<string, string> = { ...INPUT_TYPES.image, ...INPUT_TYPES.video, ...INPUT_TYPES.audio };
  return names[contentType] ?? OTHER_NAMES[contentType] ?? contentType;
};
const OTHER_NAMES: Record<string, string> = { 'video/webm': 'WebM', 'video/x-matroska': 'Matroska' };

const listOf = (names: readonly string[]): string =>
  names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

/** A range with one bound or two, in words. */
export const rangeOf = (least: number | undefined, most: number | undefined): string => {
  if (least === undefined) return `up to ${figure(most ?? 0)}`;
  return most === undefined ? `${figure(least)} or more` : `${figure(least)} to ${figure(most)}`;
};

const figure = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 3 });
const round = (value: number): number => Math.round(value * 100) / 100;
const MEGABYTE = 1024 * 1024;
const megabytes = (bytes = 0): string => figure(Math.ceil((bytes / MEGABYTE) * 100) / 100);
