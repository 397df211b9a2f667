import * as z from 'zod/mini';
import { MAX_EMAIL_LENGTH } from '../../core/end-users/email-rules.ts';
import { ValidationError } from '../../core/errors.ts';
import type { UsageQuery } from '../../core/ledger/usage.ts';
import { MAX_USAGE_DAYS, USAGE_DIMENSIONS, type UsageDimension } from '../../core/ledger/usage-rules.ts';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, type PageRequest } from '../../core/table/pages.ts';
import { SECONDS_PER_DAY } from '../../core/time.ts';
import type { ApiRequest } from './api-request.ts';

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

/** The text of a query parameter in which no blank can stand: each was written as a raw `+`, which means a blank in queries. */
export const withPluses = (text: string): string => text.replaceAll(' ', '+');

/** The query of `GET /v1/end-users`. An address has no blank. */
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
      .check(
        z.maxLength(MAX_EMAIL_LENGTH, { error: `must be at most ${MAX_EMAIL_LENGTH} characters` }),
        z.overwrite(withPluses),
      ),
  ),
};

/** The query of `GET /v1/models`. */
export const MODELS_QUERY = { include: z.optional(z.literal('inputs', { error: 'must be inputs' })) };

/** The query of `GET /v1/balance`. */
export const BALANCE_QUERY = { include: z.optional(z.literal('account', { error: 'must be account' })) };

/** A date, as the instant at which it begins in UTC. */
const date = z.pipe(
  z.iso.date({
    error: ({ input }) => `${input === undefined ? 'is required:' : 'must be'} a date like 2026-11-01`,
  }),
  z.transform((text) => `${text}T00:00:00.000Z`),
);

const isDimension = (name: string): name is UsageDimension =>
  (USAGE_DIMENSIONS as readonly string[]).includes(name);

const namesIn = (text?: string): string[] => text?.split(',') ?? [];

/** The query of `GET /v1/usage`. */
export const USAGE_QUERY = {
  from: date,
  to: date,
  by: z.optional(
    z.string().check(
      z.refine(
        (text) => namesIn(text).every(isDimension) && new Set(namesIn(text)).size === namesIn(text).length,
        {
          error: `must be some of ${USAGE_DIMENSIONS.join(',')}, each once`,
        },
      ),
    ),
  ),
};

/** The query of `GET /v1/usage`. Throws `ValidationError` for wrong parameters, and for dates in the wrong order or too far apart. */
export const readUsageQuery = (request: ApiRequest): UsageQuery => {
  const { from, to, by } = request.query(USAGE_QUERY);
  const days = (Date.parse(to) - Date.parse(from)) / (SECONDS_PER_DAY * 1000);
  if (days <= 0) throw new ValidationError({ to: 'must be after from' });
  if (days > MAX_USAGE_DAYS) {
    throw new ValidationError({ to: `must be at most ${MAX_USAGE_DAYS} days after from` });
  }
  return { from, to, by: namesIn(by).filter(isDimension) };
};
