import { FILE_EXTENSIONS } from '@generation-service/media/file-types';
import * as z from 'zod/mini';
import type { FieldErrors, Medium } from '../errors.ts';
import { text } from '../fields.ts';

const MIB = 1024 * 1024;
const IMAGE_BYTES = 30 * MIB;
const VIDEO_BYTES = 100 * MIB;

/** The types of uploads: images and videos for references, frames and clips. */
export const UPLOAD_TYPES = {
  'image/jpeg': { extension: 'jpg', maxBytes: IMAGE_BYTES },
  'image/png': { extension: 'png', maxBytes: IMAGE_BYTES },
  'image/webp': { extension: 'webp', maxBytes: IMAGE_BYTES },
  'video/mp4': { extension: 'mp4', maxBytes: VIDEO_BYTES },
  'video/quicktime': { extension: 'mov', maxBytes: VIDEO_BYTES },
  'video/webm': { extension: 'webm', maxBytes: VIDEO_BYTES },
} as const;
export type UploadType = keyof typeof UPLOAD_TYPES;

/** What a stored file with this extension holds, as far as a creation can name it. */
export const kindOfExtension = (extension: string): Medium | undefined => {
  const uploaded = Object.entries(UPLOAD_TYPES).find(([, type]) => type.extension === extension);
  if (uploaded) return uploaded[0].split('/')[0] as Medium;
  return FILE_EXTENSIONS.video.some((known) => known === extension) ? 'video' : undefined;
};
const TYPES = Object.keys(UPLOAD_TYPES) as [UploadType, ...UploadType[]];

const TYPE_MESSAGE = `must be one of ${TYPES.join(', ')}`;

/** The body of an upload. `bytes` is the exact size of the file. */
export const UPLOAD_BODY = {
  contentType: z.pipe(text(), z.enum(TYPES, { error: TYPE_MESSAGE })),
  bytes: z
    .int({ error: ({ input }) => (input === undefined ? 'is required' : 'must be a whole number') })
    .check(z.gte(1, { error: 'must be at least 1' })),
};

/** A file that a caller is about to upload. */
export interface NewUpload {
  contentType: UploadType;
  bytes: number;
}

/** What is wrong with the size of a file of this type, by field. */
export const sizeProblems = ({ contentType, bytes }: Partial<NewUpload>): FieldErrors => {
  if (contentType === undefined || bytes === undefined) return {};
  const { maxBytes } = UPLOAD_TYPES[contentType];
  return bytes > maxBytes ? { bytes: `must be at most ${maxBytes} for ${contentType}` } : {};
};
