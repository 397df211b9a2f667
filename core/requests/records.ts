import * as z from 'zod/mini';
import { BALANCE_EVENTS } from '../accounts/balance-event-answers.ts';
import { described, instant, named, xTokens } from '../answers.ts';
import { FailureAnswer, StorageFailed } from '../error-answers.ts';
import { ASKED_OF_IMAGES, ASKED_OF_VIDEO } from './request-rules.ts';

/** The fields of a creation of images that the record does not have. The document describes them as it does those of the creation. */
export const ImageInput = named(
  'ImageInput',
  'What was asked of images beside the prompt, with defaults applied: the fields of a creation. URLs are without their query, which may hold a signature.',
  z.object({
    ...ASKED_OF_IMAGES,
    n: z.int().check(z.gte(1)),
    sequential: z.optional(z.literal('auto')),
    sequentialOptions: z.optional(
      z.object({ maxImages: described(z.int().check(z.gte(1)), 'Most images of the series.') }),
    ),
  }),
);
export type ImageInput = z.infer<typeof ImageInput>;

export const VideoInput = named(
  'VideoInput',
  'What was asked of a video beside the prompt, with defaults applied: the fields of a creation. URLs are without their query, which may hold a signature.',
  z.object(ASKED_OF_VIDEO),
);
export type VideoInput = z.infer<typeof VideoInput>;

const item = {
  id: described(z.string(), '`<requestId>_<index>`, counted from 0.'),
  expiresAt: instant('When the file is removed. Set when the request ended; a read does not move it.'),
};
/** The marks of its maker that a file carries. */
export const Provenance = named(
  'Provenance',
  'Marks of the maker that the file carries. They are detected, not verified. Absent for none.',
  z.object({ c2pa: described(z.literal(true), 'The file carries a C2PA manifest.') }),
);
export type Provenance = z.infer<typeof Provenance>;
const stored = {
  url: described(
    z.string(),
    'A signed URL, valid until `expiresAt`. Each read signs anew. Fetch it without the API key.',
  ),
};
const marked = { provenance: z.optional(Provenance) };
const lost = { error: StorageFailed };
const ofImage = { size: described(z.string(), '`<width>x<height>` in pixels, of the stored file.') };
const ofVideo = {
  duration: described(z.number(), 'Seconds of the stored file.'),
  resolution: described(z.string(), 'As requested, such as `1080p`.'),
};

export const ImageItem = named(
  'ImageItem',
  'One image. It has either `url` or `error`.',
  z.xor([
    named(
      'StoredImage',
      'An image that can be fetched.',
      z.object({ ...item, ...stored, ...ofImage, ...marked }),
    ),
    named('LostImage', 'An image that could not be stored.', z.object({ ...item, ...lost, ...ofImage })),
  ]),
);
export type ImageItem = z.infer<typeof ImageItem>;

export const VideoItem = named(
  'VideoItem',
  'One video. It has either `url` or `error`.',
  z.xor([
    named(
      'StoredVideo',
      'A video that can be fetched.',
      z.object({ ...item, ...stored, ...ofVideo, ...marked }),
    ),
    named('LostVideo', 'A video that could not be stored.', z.object({ ...item, ...lost, ...ofVideo })),
  ]),
);
export type VideoItem = z.infer<typeof VideoItem>;

const common = {
  requestId: described(z.string(), '`img_` or `vid_` and a ULID. Ids of a kind sort by creation time.'),
  model: described(z.string(), 'The id of a model.'),
  prompt: described(z.string(), 'Trimmed.'),
};
const owned = {
  endUserEmail: described(z.string(), 'Normalized.'),
  createdAt: instant('When the request was accepted.'),
};
const image = {
  ...common,
  referencesCount: described(z.int().check(z.gte(0)), 'Number of reference images.'),
  ...owned,
  input: z.optional(ImageInput),
};
const video = { ...common, ...owned, input: z.optional(VideoInput) };

const finished = { finishedAt: instant('When the request ended.') };
const queued = {
  status: z.literal('queued'),
  pollUrl: described(z.string(), 'Where to read this record.'),
};
const processing = { status: z.literal('processing') };
const cost = {
  cost: xTokens('The debit less refunds, in xTokens. Undelivered outputs are refunded.'),
};
const seed = {
  seed: z.optional(
    described(
      z.number(),
      'The seed that the maker of the model reports, where it does; of several calls that of the first.',
    ),
  ),
};
const succeeded = { status: z.literal('succeeded') };
const failed = { status: z.literal('failed'), error: FailureAnswer, ...finished };
const expired = { status: z.literal('expired'), ...finished };

const QUEUED = 'Accepted, not yet at a provider.';
const PROCESSING = 'A provider is working on it.';
const SUCCEEDED = 'The outputs can be fetched until their `expiresAt`.';
const FAILED = 'Ended without an output, and refunded in full.';
const EXPIRED = 'It succeeded, and its files are gone.';

const QueuedImages = named('QueuedImages', QUEUED, z.object({ ...image, ...queued }));
const ProcessingImages = named('ProcessingImages', PROCESSING, z.object({ ...image, ...processing }));
const SucceededImages = named(
  'SucceededImages',
  SUCCEEDED,
  z.object({ ...image, ...succeeded, images: z.array(ImageItem), ...cost, ...seed, ...finished }),
);
const FailedImages = named('FailedImages', FAILED, z.object({ ...image, ...failed }));
const ExpiredImages = named('ExpiredImages', EXPIRED, z.object({ ...image, ...expired }));

const QueuedVideo = named('QueuedVideo', QUEUED, z.object({ ...video, ...queued }));
const ProcessingVideo = named('ProcessingVideo', PROCESSING, z.object({ ...video, ...processing }));
const SucceededVideo = named(
  'SucceededVideo',
  SUCCEEDED,
  z.object({ ...video, ...succeeded, videos: z.array(VideoItem), ...cost, ...seed, ...finished }),
);
const FailedVideo = named('FailedVideo', FAILED, z.object({ ...video, ...failed }));
const ExpiredVideo = named('ExpiredVideo', EXPIRED, z.object({ ...video, ...expired }));

/** A request for images as the API shows it. Each status has exactly these fields; `input` is in reads that ask for it. */
export const GenerationRecord = named(
  'GenerationRecord',
  'A request for images. `status` says which fields it has.',
  z.discriminatedUnion('status', [
    QueuedImages,
    ProcessingImages,
    SucceededImages,
    FailedImages,
    ExpiredImages,
  ]),
);
export type GenerationRecord = z.infer<typeof GenerationRecord>;

/** A request for a video as the API shows it. Each status has exactly these fields; `input` is in reads that ask for it. */
export const VideoRecord = named(
  'VideoRecord',
  'A request for a video. `status` says which fields it has.',
  z.discriminatedUnion('status', [QueuedVideo, ProcessingVideo, SucceededVideo, FailedVideo, ExpiredVideo]),
);
export type VideoRecord = z.infer<typeof VideoRecord>;

export type RequestRecord = GenerationRecord | VideoRecord;

const delivered = <Type extends string, Schema extends z.core.$ZodType>(type: Type, data: Schema) =>
  z.object({
    type: z.literal(type),
    timestamp: instant('When the request ended: its `finishedAt`.'),
    data,
  });

/** The bodies of webhooks. The record of an attempt after `expiresAt` reads as expired. */
export const WEBHOOK_EVENTS = {
  'generation.succeeded': named(
    'GenerationSucceededEvent',
    'Images succeeded. After `expiresAt` the record is an expired one.',
    delivered('generation.succeeded', z.discriminatedUnion('status', [SucceededImages, ExpiredImages])),
  ),
  'generation.failed': named(
    'GenerationFailedEvent',
    'Images failed.',
    delivered('generation.failed', FailedImages),
  ),
  'video.succeeded': named(
    'VideoSucceededEvent',
    'A video succeeded. After `expiresAt` the record is an expired one.',
    delivered('video.succeeded', z.discriminatedUnion('status', [SucceededVideo, ExpiredVideo])),
  ),
  'video.failed': named('VideoFailedEvent', 'A video failed.', delivered('video.failed', FailedVideo)),
  ...BALANCE_EVENTS,
} as const;
export type WebhookType = keyof typeof WEBHOOK_EVENTS;
