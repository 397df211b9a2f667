import * as z from 'zod/mini';
import { type Thousandths, toXTokens } from './money.ts';
import type { Instant } from './time.ts';

/** Every error code of the API with its HTTP status. */
export const ERROR_STATUS = {
  validation_error: 400,
  unauthorized: 401,
  account_blocked: 401,
  payment_required: 402,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  content_policy: 422,
  rate_limited: 429,
  provider_timeout: 500,
  provider_error: 500,
  internal_error: 500,
  temporarily_unavailable: 503,
} as const;
export type ErrorCode = keyof typeof ERROR_STATUS;

/** Marks one output of a succeeded request whose file could not be stored; never a top-level error. */
export const STORAGE_FAILED = 'storage_failed';

/** Every error code. The execution of a failed request ends with the request's own as its error. */
export const ERROR_CODES = Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]];

/** Kinds of input files. */
export const MEDIA = ['image', 'video', 'audio'] as const;
export type Medium = (typeof MEDIA)[number];

/**
 * Reasons for which a provider refuses an input. `unfetched`: its server did not give the file, `slow`: not in time. `unreadable`: no file
 * of its medium. `small`, `large`, `size` (either): in pixels or bytes. `rate`: frames a second. `value`: anything else that the model does not take. `content`:
 * refused by the content filter.
 */
export const INPUT_REASONS = [
  'unfetched',
  'slow',
  'unreadable',
  'small',
  'large',
  'size',
  'format',
  'duration',
  'ratio',
  'rate',
  'value',
  'content',
] as const;
export type InputReason = (typeof INPUT_REASONS)[number];

/**
 * The input of a request that a provider refused, and why. `status` is what the file's server answered to the provider. `field`
 * is the path of the input in a creation (`prompt`, `references[2]`). An adapter, which does not know the creation, may instead
 * give `file`, the index among the request's input files (`inputFilesOf`), and the `medium` of these files.
 */
export const InputFault = z.object({
  reason: z.enum(INPUT_REASONS),
  status: z.optional(z.number()),
  field: z.optional(z.string()),
  file: z.optional(z.number()),
  medium: z.optional(z.enum(MEDIA)),
});
export type InputFault = z.infer<typeof InputFault>;

/**
 * The code and message of a failed request, which its caller sees. With `input`, the provider refused an input: the same request would
 * fail again.
 */
export const Failure = z.object({
  code: z.enum(ERROR_CODES),
  message: z.string(),
  input: z.optional(InputFault),
});
export type Failure = z.infer<typeof Failure>;

/** A failure from the table or an execution. A code of another version reads as `internal_error`, an input fault of another one as absent. */
export const StoredFailure = z.object({
  code: z.catch(z.enum(ERROR_CODES), 'internal_error'),
  message: z.string(),
  input: z.catch(z.optional(InputFault), undefined),
});

/** The error that a caller sees for an unexpected one: no internals. */
export const UNEXPECTED_ERROR: Failure = {
  code: 'internal_error',
  message: 'Something unexpected went wrong on our side.',
};

/** Messages for invalid fields, by dotted path (`references[2]`, `sequentialOptions.maxImages`). */
export type FieldErrors = Record<string, string>;

/** An error the caller sees. Its message is shown verbatim, so it must not contain internals. */
export class ServiceError extends Error {
  override name = 'ServiceError';
  readonly code: ErrorCode;
  /** Value of the `Retry-After` header, in whole seconds. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: { retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/**
 * The most fields a refusal names, and the most UTF-16 units of each name: a refusal stays small for any
 * body.
 */
const MAX_NAMED_FIELDS = 20;
const MAX_NAMED_LENGTH = 100;

/**
 * Fields are missing, unknown or invalid. Retrying unchanged does not help. Names the first 20 fields given, long
 * names cut short.
 */
export class ValidationError extends ServiceError {
  override name = 'ValidationError';
  readonly fields: FieldErrors;

  constructor(fields: FieldErrors, message?: string) {
    const named = namedFields(fields);
    const more = Object.keys(fields).length > MAX_NAMED_FIELDS ? ' and others' : '';
    super(
      'validation_error',
      message ?? `The request is not valid: ${Object.keys(named).join(', ')}${more}.`,
    );
    this.fields = named;
  }
}

/** Made from entries, so that `__proto__` is an ordinary name. */
const namedFields = (fields: FieldErrors): FieldErrors =>
  Object.fromEntries(
    Object.entries(fields)
      .slice(0, MAX_NAMED_FIELDS)
      .map(([name, message]) => [shortened(name), message]),
  );

const shortened = (name: string): string =>
  name.length > MAX_NAMED_LENGTH ? `${name.slice(0, MAX_NAMED_LENGTH).toWellFormed()}…` : name;

/** The API key is absent, malformed, unknown or revoked. */
export class UnauthorizedError extends ServiceError {
  override name = 'UnauthorizedError';
  constructor() {
    super('unauthorized', 'A valid API key is required: Authorization: Bearer <API_KEY>.');
  }
}

/** The operator blocked the account; every endpoint refuses it. */
export class AccountBlockedError extends ServiceError {
  override name = 'AccountBlockedError';
  constructor() {
    super('account_blocked', 'This account is blocked.');
  }
}

/** The key lacks the scope, or the end-user may not create. */
export class ForbiddenError extends ServiceError {
  override name = 'ForbiddenError';
  constructor(message: string) {
    super('forbidden', message);
  }
}

/** The balance does not cover the price; the message says both. `ledgerEntries` counts the account's entries then. Nothing was written. */
export class PaymentRequiredError extends ServiceError {
  override name = 'PaymentRequiredError';
  readonly price: Thousandths;
  readonly balance: Thousandths;
  readonly ledgerEntries: number;

  constructor(price: Thousandths, balance: Thousandths, ledgerEntries: number) {
    super(
      'payment_required',
      `This request costs ${amountText(price)}; the balance is ${amountText(balance)}.`,
    );
    this.price = price;
    this.balance = balance;
    this.ledgerEntries = ledgerEntries;
  }
}

const amountText = (amount: Thousandths): string =>
  `${toXTokens(amount).toLocaleString('en', { maximumFractionDigits: 3 })} xTokens`;

/** A budget does not cover the price. The message names it, with its spending and renewal. Nothing was written. */
export class BudgetSpentError extends ServiceError {
  override name = 'BudgetSpentError';
  /** `owner` says whose budget it is, and for how long: `end-user's daily budget`. */
  constructor(
    price: Thousandths,
    owner: string,
    { limit, spent, renewsAt }: { limit: Thousandths; spent: Thousandths; renewsAt: Instant },
  ) {
    const budget = `the ${owner} is ${amountText(limit)}, of which ${amountText(spent)} are spent`;
    super(
      'payment_required',
      `This request costs ${amountText(price)}; ${budget}. It renews at ${renewsAt}.`,
    );
  }
}

/** The caller owns nothing with that id. */
export class NotFoundError extends ServiceError {
  override name = 'NotFoundError';
  constructor(message: string) {
    super('not_found', message);
  }
}

/** The resource's state does not allow the operation. */
export class ConflictError extends ServiceError {
  override name = 'ConflictError';
  constructor(message: string) {
    super('conflict', message);
  }
}

/** Too many requests, or too much contention on the account's items. Safe to retry after the wait. */
export class RateLimitedError extends ServiceError {
  override name = 'RateLimitedError';
  constructor(retryAfterSeconds: number, cause?: unknown) {
    super('rate_limited', 'Too many requests in a short window.', { retryAfterSeconds, cause });
  }
}

/**
 * A change whose answer was lost and that could not be found afterwards: it may still have been made. The
 * message says how to repeat it without making it twice.
 */
export class OutcomeUnknownError extends ServiceError {
  override name = 'OutcomeUnknownError';
  constructor(message: string, cause: unknown) {
    super('internal_error', message, { cause });
  }
}
