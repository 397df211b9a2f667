import * as z from 'zod/mini';
import { MAX_EMAIL_LENGTH } from '../../core/end-users/email-rules.ts';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, type PageRequest } from '../../core/table/pages.ts';

/** A query parameter that is a whole number between two bounds, with a default. */
const wholeNumber = (minimum: number, maximum: number, byDefault: number) =>
  z._default(
    z.pipe(
      z.pipe(
        z
          .string()
          .check(z.regex(/^\d{1,9}$/, { error: `must be a whole number from ${minimum} to ${maximum}` })),
        z.transform(Number),
      ),
      z
        .number()
        .check(
          z.gte(minimum, { error: `must be at least ${minimum}` }),
          z.lte(maximum, { error: `must be at most ${maximum}` }),
        ),
    ),
    byDefault,
  );

/** The page parameters of every list. */
export const PAGE_QUERY = {
  page: wholeNumber(1, 1_000_000, 1),
  pageSize: wholeNumber(1, MAX_PAGE_SIZE, DEFAULT_PAGE_SIZE),
} satisfies Record<keyof PageRequest, z.ZodMiniType>;

/** The query of `GET /v1/end-users`. */
export const END_USERS_QUERY = {
  ...PAGE_QUERY,
  blocked: z.optional(
    z.pipe(
      z.enum(['true', 'false'], { error: 'must be true or false' }),
      z.transform((value: 'true' | 'false') => value === 'true'),
    ),
  ),
  email: z.optional(
    z
      .string()
      .check(z.maxLength(MAX_EMAIL_LENGTH, { error: `must be at most ${MAX_EMAIL_LENGTH} characters` })),
  ),
};
