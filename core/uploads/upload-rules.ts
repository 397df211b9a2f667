import { FILE_EXTENSIONS } from '@generation-service/media/file-types';
import * as z from 'zod/mini';
import { type FieldErrors, MEDIA, type Medium } from '../errors.ts';
import { text } from '../fields.ts';
import { CATALOG, type CatalogModel } from '../models/catalog.ts';
import type { InputFileLimits } from '../models/model-answers.ts';
import { type FileLimits, INPUT_TYPES, type InputType } from '../provider-calls/input-limits.ts';
import { type LimitedRoute, limitsOf } from '../provider-calls/upstream-limits.ts';

const MIB = 1024 * 1024;
const IMAGE_BYTES = 30 * MIB;
const VIDEO_BYTES = 100 * MIB;
const AUDIO_BYTES = 15 * MIB;

/** The types of uploads, for references, frames and clips. Those that a route of the deployment takes are offered: `offeredTypes`. */
export const UPLOAD_TYPES = {
  'image/jpeg': { extension: 'jpg', maxBytes: IMAGE_BYTES },
  'image/png': { extension: 'png', maxBytes: IMAGE_BYTES },
  'image/webp': { extension: 'webp', maxBytes: IMAGE_BYTES },
  'image/bmp': { extension: 'bmp', maxBytes: IMAGE_BYTES },
  'image/tiff': { extension: 'tiff', maxBytes: IMAGE_BYTES },
  'image/gif': { extension: 'gif', maxBytes: IMAGE_BYTES },
  'image/heic': { extension: 'heic', maxBytes: IMAGE_BYTES },
  'image/heif': { extension: 'heif', maxBytes: IMAGE_BYTES },
  'video/mp4': { extension: 'mp4', maxBytes: VIDEO_BYTES },
  'video/quicktime': { extension: 'mov', maxBytes: VIDEO_BYTES },
  'audio/mpeg': { extension: 'mp3', maxBytes: AUDIO_BYTES },
  'audio/wav': { extension: 'wav', maxBytes: AUDIO_BYTES },
} as const satisfies Record<InputType, { extension: string; maxBytes: number }>;
export type UploadType = InputType;

/** The types that a model takes by one of its configured routes. A route without known limits takes all of the media that its model takes. */
export const offeredTypes = (routesOf: (modelId: string) => readonly LimitedRoute[]): Set<string> =>
  new Set(
    CATALOG.flatMap((model) =>
      routesOf(model.id).flatMap((route) => {
        const { inputs = {} } = limitsOf(route);
        return mediaOf(model).flatMap((medium) => inputs[medium]?.types ?? Object.keys(INPUT_TYPES[medium]));
      }),
    ),
  );

/** The media of the files that a model takes. */
const mediaOf = (model: CatalogModel): Medium[] => {
  if (model.type === 'image') return model.maxReferences > 0 ? ['image'] : [];
  const { requiresImage, inputModes = [] } = model;
  return MEDIA.filter((medium) =>
    medium === 'image'
      ? requiresImage || inputModes.some((mode) => /frame|images$/.test(mode))
      : inputModes.includes(`reference_${medium}s`),
  );
};

/** The limits of a model on a medium: of each limit, the loosest among the model's routes. If a route lacks a limit, the model lacks that limit. */
const loosest = (medium: Medium, routes: readonly FileLimits[]): InputFileLimits => {
  const limit = (name: Exclude<keyof FileLimits, 'types' | 'alpha'>, pick: (...all: number[]) => number) => {
    const values = routes.flatMap((route) => route[name] ?? []);
    return values.length === routes.length ? { [name]: pick(...values) } : {};
  };
  const types = [...new Set(routes.flatMap((route) => route.types ?? Object.keys(INPUT_TYPES[medium])))];
  const largest = Math.max(...types.map((type) => UPLOAD_TYPES[type as UploadType]?.maxBytes ?? 0));
  const { maxBytes = largest } = limit('maxBytes', Math.max);
  return {
    types,
    maxBytes: Math.min(maxBytes, largest),
    ...limit('minSide', Math.min),
    ...limit('maxSide', Math.max),
    ...limit('maxPixels', Math.max),
    ...limit('maxRatio', Math.max),
    ...(routes.every(({ alpha }) => alpha === false) && { alpha: false as const }),
    ...limit('minSeconds', Math.min),
    ...limit('maxSeconds', Math.max),
    ...limit('maxTotalSeconds', Math.max),
    ...limit('minFramesPerSecond', Math.min),
  };
};

/** Limits on input files by the media that a model takes. A file beyond them is taken by no route; each route may take less. */
export const inputsOf = (
  model: CatalogModel,
  routes: readonly LimitedRoute[],
): Partial<Record<Medium, InputFileLimits>> => {
  const limits = routes.map((route) => limitsOf(route).inputs ?? {});
  return Object.fromEntries(
    mediaOf(model).map((medium) => [
      medium,
      loosest(
        medium,
        limits.map((inputs) => inputs[medium] ?? {}),
      ),
    ]),
  );
};

/** The type that an upload with this extension was declared to be; undefined for other extensions. */
export const contentTypeOfExtension = (extension: string): string | undefined =>
  Object.entries(UPLOAD_TYPES).find(([, type]) => type.extension === extension)?.[0];

/** The extension of an upload of this type; undefined for a type of no upload. */
export const extensionOfType = (contentType: string): string | undefined =>
  Object.hasOwn(UPLOAD_TYPES, contentType) ? UPLOAD_TYPES[contentType as UploadType].extension : undefined;

/** The medium of a stored file by its extension, if a creation can name the file. */
export const kindOfExtension = (extension: string): Medium | undefined => {
  const contentType = contentTypeOfExtension(extension);
  if (contentType !== undefined) return contentType.split('/')[0] as Medium;
  return FILE_EXTENSIONS.video.some((known) => known === extension) ? 'video' : undefined;
};
const TYPES = Object.keys(UPLOAD_TYPES) as UploadType[];

/** The body of an upload of one of these types. `bytes` is the exact size of the file. */
export const uploadBody = (offered: ReadonlySet<string> = new Set(TYPES)) => {
  const types = TYPES.filter((type) => offered.has(type));
  const error = `must be one of ${types.join(', ')}`;
  return {
    contentType: z.pipe(text(), z.enum(types, { error })),
    bytes: z
      .int({ error: ({ input }) => (input === undefined ? 'is required' : 'must be a whole number') })
      .check(z.gte(1, { error: 'must be at least 1' })),
  };
};

/** A file that a caller is about to upload. */
export interface NewUpload {
  contentType: UploadType;
  bytes: number;
}

/** The problems with the size of a file of this type, by field. */
export const sizeProblems = ({ contentType, bytes }: Partial<NewUpload>): FieldErrors => {
  if (contentType === undefined || bytes === undefined) return {};
  const { maxBytes } = UPLOAD_TYPES[contentType];
  return bytes > maxBytes ? { bytes: `must be at most ${maxBytes} for ${contentType}` } : {};
};
