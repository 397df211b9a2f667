import { isUtf8 } from 'node:buffer';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { idempotencyKeyProblem } from '../../core/creation/idempotency.ts';
import { isEmail, normalizeEmail } from '../../core/end-users/email-rules.ts';
import { type FieldErrors, ValidationError } from '../../core/errors.ts';
import { parseFields, type ReadBody, type Shape, type Values } from '../../core/fields.ts';

/** The largest body of most routes. */
const MAX_BODY_KIBIBYTES = 256;

const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/** An HTTP request to the API, as routes read it. */
export class ApiRequest {
  readonly now: Date;
  private readonly event: APIGatewayProxyEvent;

  constructor(event: APIGatewayProxyEvent, now: Date) {
    this.event = event;
    this.now = now;
  }

  /** The route as callers write it: `POST /v1/videos`. */
  get route(): string {
    return `${this.event.httpMethod} ${this.event.resource}`;
  }

  /** The first value of a header; names are case-insensitive. */
  header(name: string): string | undefined {
    const wanted = name.toLowerCase();
    const found = Object.entries(this.event.headers ?? {}).find(([key]) => key.toLowerCase() === wanted);
    return found?.[1];
  }

  /** Every value of a header. */
  private valuesOf(name: string): string[] {
    const wanted = name.toLowerCase();
    return Object.entries(this.event.multiValueHeaders ?? {}).flatMap(([key, values = []]) =>
      key.toLowerCase() === wanted ? values : [],
    );
  }

  /**
   * A path parameter, decoded: a REST API passes paths on undecoded. Throws `ValidationError` when its
   * encoding is broken, `Error` when the route has no such parameter.
   */
  pathParameter(name: string): string {
    const value = this.event.pathParameters?.[name];
    if (value === undefined) {
      throw new Error(`Route ${this.event.resource} has no parameter ${name}.`);
    }
    try {
      return decodeURIComponent(value);
    } catch (error) {
      if (error instanceof URIError) throw new ValidationError({ [name]: 'is not URL-encoded UTF-8' });
      throw error;
    }
  }

  /** The end-user's email address in the path, normalized. Throws `ValidationError` when it is not one. */
  emailParameter(): string {
    const email = normalizeEmail(this.pathParameter('email'));
    if (!isEmail(email)) throw new ValidationError({ email: 'must be an email address' });
    return email;
  }

  /** The `Idempotency-Key`, if there is one. Throws `ValidationError` when it is malformed. */
  idempotencyKey(): string | undefined {
    const key = this.header('Idempotency-Key');
    const isRepeated = this.valuesOf('Idempotency-Key').length > 1;
    const problem = isRepeated
      ? 'is given more than once'
      : key === undefined
        ? undefined
        : idempotencyKeyProblem(key);
    if (problem) throw new ValidationError({ 'Idempotency-Key': problem });
    return key;
  }

  /** The bytes of the body; none when it is absent. */
  rawBody(): Buffer {
    const { body, isBase64Encoded } = this.event;
    return Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8');
  }

  /**
   * The body as a JSON object of at most `maxKibibytes`; an absent body counts as `{}`. Never throws: authorization comes before any
   * refusal.
   */
  readBody(maxKibibytes = MAX_BODY_KIBIBYTES): ReadBody {
    const sent = this.rawBody();
    // Some editors and clients begin UTF-8 so. It is no part of the text (RFC 8259, 8.1).
    const bytes = sent.indexOf(BYTE_ORDER_MARK) === 0 ? sent.subarray(BYTE_ORDER_MARK.byteLength) : sent;
    if (bytes.byteLength === 0) return { ok: true, body: {} };
    if (bytes.byteLength > maxKibibytes * 1024) return refusedBody(`must be at most ${maxKibibytes} KiB`);
    if (!isUtf8(bytes)) return refusedBody('must be UTF-8');
    let value: unknown;
    try {
      value = JSON.parse(bytes.toString('utf8'));
    } catch (error) {
      if (error instanceof SyntaxError) return refusedBody('must be JSON');
      throw error;
    }
    // Not copied: a copy loses a field named `__proto__`, which must be refused as unknown.
    return isObject(value) ? { ok: true, body: value } : refusedBody('must be a JSON object');
  }

  /** The fields of the body, by this shape. Throws `ValidationError` for wrong or unknown ones, those that `across` finds, and a body without fields. */
  body<Fields extends Shape>(
    shape: Fields,
    across: (values: Partial<Values<Fields>>) => FieldErrors = () => ({}),
  ): Values<Fields> {
    const read = this.readBody();
    if (!read.ok) throw read.error;
    const { values, fields } = parseFields(shape, read.body);
    return allOf(values, { ...fields, ...across(values) });
  }

  /** A query parameter by name; undefined if absent. */
  queryParameter(name: string): string | undefined {
    return this.event.multiValueQueryStringParameters?.[name]?.[0];
  }

  /** The query parameters, by this shape. Throws `ValidationError` for wrong, unknown or repeated ones. */
  query<Fields extends Shape>(shape: Fields): Values<Fields> {
    const given = this.event.multiValueQueryStringParameters ?? {};
    const entries = Object.entries(given);
    // Built from entries, so that `__proto__` is an ordinary parameter name.
    const single = Object.fromEntries(entries.map(([name, values = []]) => [name, values[0]]));
    const repeated: FieldErrors = Object.fromEntries(
      entries.flatMap(([name, values = []]) =>
        values.length > 1 ? [[name, 'is given more than once']] : [],
      ),
    );
    const { values, fields } = parseFields(shape, single);
    return allOf(values, { ...fields, ...repeated });
  }
}

/** The values, of which none is missing when nothing is wrong. Throws `ValidationError` otherwise. */
const allOf = <T>(values: Partial<T>, wrong: FieldErrors): T => {
  if (Object.keys(wrong).length > 0) throw new ValidationError(wrong);
  return values as T;
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const refusedBody = (problem: string): ReadBody => ({
  ok: false,
  error: new ValidationError({ body: problem }, `The request body ${problem}.`),
});

/** Everything that the checks find wrong with a request, by field. Rethrows any other error. */
export const wrongFields = (...checks: (() => unknown)[]): FieldErrors =>
  // Not `Object.assign`, which would lose a field named `__proto__`.
  Object.fromEntries(checks.flatMap((check) => Object.entries(wrongFieldsOf(check))));

const wrongFieldsOf = (check: () => unknown): FieldErrors => {
  try {
    check();
    return {};
  } catch (error) {
    if (error instanceof ValidationError) return error.fields;
    throw error;
  }
};

/**
 * The results of the checks, if all pass. Otherwise throws one `ValidationError` that names everything wrong. Runs each
 * once.
 */
export const checkAll = <Results extends readonly unknown[]>(
  ...checks: { [Index in keyof Results]: () => Results[Index] }
): Results => {
  const results: unknown[] = [];
  const fields = wrongFields(...checks.map((check) => () => results.push(check())));
  if (Object.keys(fields).length > 0) throw new ValidationError(fields);
  return results as unknown as Results;
};
