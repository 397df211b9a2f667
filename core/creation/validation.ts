import * as z from 'zod/mini';
import type { FieldErrors } from '../errors.ts';
import { hostProblem } from '../outbound/target-rules.ts';

/** A path of a body as its dotted form, with indexes in brackets: `references[2]`, `sequentialOptions.maxImages`. */
export const fieldPath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');

/** No messages yet. Without a prototype, so that a field named `constructor` or `__proto__` is a name like any other. */
const noFieldErrors = (): FieldErrors => Object.create(null) as FieldErrors;

/** The first message for each wrong field of a parse, unknown fields included. */
export const fieldErrorsOf = (error: z.core.$ZodError): FieldErrors => {
  const fields = noFieldErrors();
  const add = (path: readonly PropertyKey[], message: string): void => {
    fields[fieldPath(path)] ??= message;
  };
  for (const issue of error.issues) {
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) add([...issue.path, key], 'is not a known field');
    } else if (issue.code === 'invalid_key') {
      add(issue.path, 'is not a valid name');
    } else {
      add(issue.path, issue.message);
    }
  }
  return fields;
};

/** Values of the fields that are right, and messages for those that are wrong. */
export interface ParsedFields<T> {
  values: Partial<T>;
  fields: FieldErrors;
}

/**
 * Checks every field of an object by itself, so that rules over several fields can still be checked among
 * those that are right, and all that is wrong is told at once. Fields the shape does not know are wrong.
 */
export const parseFields = <Shape extends Record<string, z.ZodMiniType>>(
  shape: Shape,
  input: Record<string, unknown>,
): ParsedFields<{ [Name in keyof Shape]: z.infer<Shape[Name]> }> => {
  const parsed: ParsedFields<{ [Name in keyof Shape]: z.infer<Shape[Name]> }> = {
    values: {},
    fields: noFieldErrors(),
  };
  for (const name of Object.keys(input)) {
    if (!Object.hasOwn(shape, name)) parsed.fields[name] = 'is not a known field';
  }
  for (const [name, schema] of Object.entries(shape) as [keyof Shape & string, Shape[string]][]) {
    const result = schema.safeParse(Object.hasOwn(input, name) ? input[name] : undefined);
    if (result.success) {
      parsed.values[name] = result.data as z.infer<Shape[typeof name]>;
      continue;
    }
    for (const [path, message] of Object.entries(fieldErrorsOf(result.error))) {
      const separator = path === '' || path.startsWith('[') ? '' : '.';
      parsed.fields[`${name}${separator}${path}`] = message;
    }
  }
  return parsed;
};

const REQUIRED_TEXT = (issue: { input?: unknown }): string =>
  issue.input === undefined ? 'is required' : 'must be a string';

/** A required string. */
export const text = () => z.string({ error: REQUIRED_TEXT });

/** A string field that may be left out, but not be null. */
export const optionalText = () => z.optional(z.string({ error: 'must be a string' }));

/** A whole number that may be left out. */
export const optionalInteger = (minimum: number, message: string) =>
  z.optional(z.int({ error: 'must be a whole number' }).check(z.gte(minimum, { error: message })));

/** Longest email address: the limit of a mailbox path in SMTP (RFC 5321, 4.5.3.1.3) without its brackets. */
export const MAX_EMAIL_LENGTH = 254;

/** One `@`; a local part of up to 64 characters without spaces, quotes or brackets; a dotted domain. Unicode is fine. */
const EMAIL =
  /^[^\s@"(),:;<>[\]\\.\p{C}]+(\.[^\s@"(),:;<>[\]\\.\p{C}]+)*@[\p{L}\p{N}]([\p{L}\p{N}\p{M}-]*[\p{L}\p{N}\p{M}])?(\.[\p{L}\p{N}]([\p{L}\p{N}\p{M}-]*[\p{L}\p{N}\p{M}])?)+$/u;

/** An email address in the form that identifies an end-user: trimmed and lower-cased. */
export const normalizeEmail = (email: string): string => email.trim().toLowerCase();

/** Whether a normalized address is syntactically an email address of at most 254 characters. */
export const isEmail = (email: string): boolean =>
  email.length <= MAX_EMAIL_LENGTH && EMAIL.test(email) && email.indexOf('@') <= 64;

/** A required email address, normalized. */
export const emailField = () => normalizedEmail(text());

/** An email address that may be left out, normalized. */
export const optionalEmail = () => z.optional(normalizedEmail(z.string({ error: 'must be a string' })));

const normalizedEmail = (given: z.ZodMiniString) =>
  z.pipe(
    z.pipe(given, z.transform(normalizeEmail)),
    z
      .string()
      .check(
        z.refine(isEmail, { error: `must be an email address of at most ${MAX_EMAIL_LENGTH} characters` }),
      ),
  );

const MAX_URL_LENGTH = 2048;
/** Control characters, which parsers of URLs drop silently, and halves of surrogate pairs, which no store takes. */
const NOT_IN_URLS = /[\p{Cc}\p{Cs}]/u;
const LOOPBACK_HOSTS = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Why a URL given by a caller is refused, or undefined when it can be used. */
export const urlProblem = (url: string, allowLoopbackHttp: boolean): string | undefined => {
  if (url.length > MAX_URL_LENGTH) return `must be at most ${MAX_URL_LENGTH} characters`;
  if (!URL.canParse(url) || url.trim() !== url || NOT_IN_URLS.test(url))
    return 'must be an absolute https URL';
  const { protocol, username, password, hostname } = new URL(url);
  if (username !== '' || password !== '') return 'must not carry user information';
  const loopback = allowLoopbackHttp && protocol === 'http:' && LOOPBACK_HOSTS.test(hostname);
  return protocol === 'https:' || loopback ? undefined : 'must be an absolute https URL';
};

/** Why a URL for webhooks is refused, or undefined: a host that is never dialled is refused at once. */
export const webhookUrlProblem = (url: string, allowPrivate: boolean): string | undefined =>
  urlProblem(url, allowPrivate) ?? hostProblem(new URL(url).hostname, allowPrivate);
