import * as z from 'zod/mini';

/** Image price in xTokens per image: the first tier whose `maxPixels` is not exceeded. The last tier has none. */
export const ImageRate = z.strictObject({
  perImage: z.array(z.strictObject({ maxPixels: z.nullable(z.number()), xTokens: z.number() })),
});
export type ImageRate = z.infer<typeof ImageRate>;

/** Video price by resolution, in xTokens per second. */
export const VideoRate = z.strictObject({ perSecond: z.record(z.string(), z.number()) });
export type VideoRate = z.infer<typeof VideoRate>;

/** The price of a model, per image or per second, as its catalog entry is billed. */
export const Rate = z.union([ImageRate, VideoRate]);
export type Rate = z.infer<typeof Rate>;

/** An account's own price of a model: a rate, or a factor of the general rate, in thousandths. */
export const AccountRate = z.union([Rate, z.strictObject({ factorThousandths: z.number() })]);
export type AccountRate = z.infer<typeof AccountRate>;
