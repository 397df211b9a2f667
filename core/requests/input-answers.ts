import * as z from 'zod/mini';
import { described, named } from '../answers.ts';

const url = (description: string) => z.optional(described(z.string(), description));
const urls = () => z.array(z.string());
const common = { webhookUrl: url('Where the result is sent.') };

/** The fields of a creation of images that the record does not have. */
export const ImageInput = named(
  'ImageInput',
  'What was asked of images beside the prompt, with defaults applied: the fields of a creation. URLs are without their query, which may hold a signature.',
  z.object({
    size: described(z.string(), 'A preset or `<width>x<height>`.'),
    aspectRatio: z.string(),
    n: described(z.int().check(z.gte(1)), '1 with `sequential`.'),
    references: urls(),
    sequential: z.optional(z.literal('auto')),
    sequentialOptions: z.optional(
      z.object({ maxImages: described(z.int().check(z.gte(1)), 'Most images of the series.') }),
    ),
    ...common,
  }),
);
export type ImageInput = z.infer<typeof ImageInput>;

/** The fields of a creation of a video that the record does not have. */
export const VideoInput = named(
  'VideoInput',
  'What was asked of a video beside the prompt, with defaults applied: the fields of a creation. URLs are without their query, which may hold a signature.',
  z.object({
    resolution: z.string(),
    durationSec: described(z.number(), 'Whole seconds.'),
    ratio: z.optional(z.string()),
    image: url('The first frame.'),
    lastFrame: url('The last frame.'),
    referenceImages: urls(),
    referenceVideos: urls(),
    referenceAudios: urls(),
    ...common,
  }),
);
export type VideoInput = z.infer<typeof VideoInput>;
