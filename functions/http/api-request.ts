import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as z from 'zod/mini';
import { idempotencyKeyProblem } from '../../core/creation/idempotency.ts';
import { isEmail, normalizeEmail, parseFields } from '../../core/creation/validation.ts';
import { type FieldErrors, ValidationError } from '../../core/errors.ts';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, type PageRequest } from '../../core/table/pages.ts';

/** Largest body that is read, in bytes. */
const MAX_BODY_BYTES = 256 * 1024;

/** A body that has been read, or why it cannot be. */
export type ReadBody = { ok: true; body: Record<string, unknown> } | { ok: false; error: ValidationError };

/** An HTTP request to the API, as a route sees it. */
export class ApiRequest {
  readonly now: Date;
  private readonly event: APIGatewayProxyEvent;

  constructor(event: APIGatewayProxyEvent, now: Date) {
    this.event = event;
    this.now = now;
  }

  /** The first value of a header, whatever its case. */
  header(name: string): string | undefined {
    const wanted = name.toLowerCase();
    const found = Object.entries(this.event.headers ?? {}).find(([key]) => key.toLowerCase() === wanted);
    return found?.[1];
  }

  /**
   * A parameter of the route's path, decoded: a REST API hands paths on as they came. Throws
   * `ValidationError` when its encoding is broken, `Error` when the route has none of that name.
   */
  pathParameter(name: string): string {
    const value = this.event.pathParameters?.[name];
    if (value === undefined || value === null) {
      throw new Error(`Route ${this.event.resource} has no parameter ${name}.`);
    }
    try {
      return decodeURIComponent(value);
    } catch (error) {
      if (error instanceof URIError) throw new ValidationError({ [name]: 'is not URL-encoded UTF-8' });
      throw error;
    }
  }

  /** An end-user's address in the route's path, normalized. Throws `ValidationError` when it is none. */
  emailParameter(): string {
    const email = normalizeEmail(this.pathParameter('email'));
    if (!isEmail(email)) throw new ValidationError({ email: 'must be an email address' });
    return email;
  }

  /** What the caller named this creation with, if anything. Throws `ValidationError` for a malformed key. */
  idempotencyKey(): string | undefined {
    const key = this.header('Idempotency-Key');
    const problem = key === undefined ? undefined : idempotencyKeyProblem(key);
    if (problem) throw new ValidationError({ 'Idempotency-Key': problem });
    return key;
  }

  /** The body as a JSON object; an absent one counts as `{}`. Never throws, so that a caller is told who they are first. */
  readBody(): ReadBody {
    const { body, isBase64Encoded } = this.event;
    if (body === null || body === '') return { ok: true, body: {} };
    const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
    if (bytes.byteLength > MAX_BODY_BYTES) return refusedBody('must be at most 256 KiB');
    let value: unknown;
    try {
      value = JSON.parse(bytes.toString('utf8'));
    } catch (error) {
      if (error instanceof SyntaxError) return refusedBody('must be JSON');
      throw error;
    }
    // The value itself and no copy of it: copying loses a field named `__proto__`, which must be refused as unknown.
    return isObject(value) ? { ok: true, body: value } : refusedBody('must be a JSON object');
  }

  /** The query parameters of a shape. Throws `ValidationError` for wrong, unknown or repeated ones. */
  query<Shape extends Record<string, z.ZodMiniType>>(
    shape: Shape,
  ): { [Name in keyof Shape]: z.infer<Shape[Name]> } {
    const given = this.event.multiValueQueryStringParameters ?? {};
    const entries = Object.entries(given);
    // Made from entries, so that a parameter named `__proto__` is one like any other.
    const single = Object.fromEntries(entries.map(([name, values = []]) => [name, values[0]]));
    const repeated: FieldErrors = Object.fromEntries(
      entries.flatMap(([name, values = []]) =>
        values.length > 1 ? [[name, 'is given more than once']] : [],
      ),
    );
    const { values, fields } = parseFields(shape, single);
    const wrong = { ...fields, ...repeated };
    if (Object.keys(wrong).length > 0) throw new ValidationError(wrong);
    return values as { [Name in keyof Shape]: z.infer<Shape[Name]> };
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const refusedBody = (problem: string): ReadBody => ({
  ok: false,
  error: new ValidationError({ body: problem }, `The request body ${problem}.`),
});

/** A whole number in a query parameter, between two bounds; a default when it is left out. */
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

/** The page parameters every list takes. */
export const PAGE_QUERY = {
  page: wholeNumber(1, 1_000_000, 1),
  pageSize: wholeNumber(1, MAX_PAGE_SIZE, DEFAULT_PAGE_SIZE),
} satisfies Record<keyof PageRequest, z.ZodMiniType>;
