import { AwsError } from '../errors.ts';
import { MAX_DATA_BYTES } from './interpreter/errors.ts';

type Json = Record<string, unknown>;

/** A required string field. Throws `ValidationException`. */
export const requiredText = (body: Json, field: string): string => {
  const value = body[field];
  if (typeof value === 'string' && value !== '') return value;
  throw new AwsError(
    'ValidationException',
    `1 validation error detected: Value null at '${field}' failed to satisfy constraint: Member must not be null`,
  );
};

/** An optional string field. */
export const optionalText = (body: Json, field: string): string | undefined =>
  typeof body[field] === 'string' ? body[field] : undefined;

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** JSON text in a field, at most 256 KiB; `{}` when absent. Throws `ValidationException`, or `invalid` when it is not JSON. */
export const jsonText = (body: Json, field: string, invalid: { code: string; label: string }): string => {
  const text = optionalText(body, field) ?? '{}';
  if (Buffer.byteLength(text) > MAX_DATA_BYTES) {
    throw new AwsError(
      'ValidationException',
      `1 validation error detected: Value at '${field}' failed to satisfy constraint: Member must have length less than or equal to ${MAX_DATA_BYTES}`,
    );
  }
  if (!isJson(text)) throw new AwsError(invalid.code, `${invalid.label}: '${field} is not valid JSON'`);
  return text;
};

/** Characters that a name may not hold. https://docs.aws.amazon.com/step-functions/latest/apireference/API_StartExecution.html */
const FORBIDDEN_IN_NAMES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the API names them
  /[\s<>{}[\]?*"#%\\^|~`$&,;:/\u0000-\u001f\u007f-\u009f]/;

/** An execution's name, 1 to 80 characters; undefined when the caller gives none. Throws `InvalidName`. */
export const executionName = (body: Json): string | undefined => {
  const name = optionalText(body, 'name');
  if (name === undefined) return undefined;
  if (name.length < 1 || name.length > 80 || FORBIDDEN_IN_NAMES.test(name)) {
    throw new AwsError('InvalidName', `Invalid Name: '${name}'`);
  }
  return name;
};

/** `maxResults` of a list: at most 1,000, and 100 when absent or 0. Throws `ValidationException`. */
const pageSize = (body: Json): number => {
  const asked = Number(body.maxResults ?? 0);
  if (Number.isInteger(asked) && asked >= 0 && asked <= 1_000) return asked || 100;
  throw new AwsError(
    'ValidationException',
    `1 validation error detected: Value '${asked}' at 'maxResults' failed to satisfy constraint: Member must have value less than or equal to 1000`,
  );
};

const invalidToken = () => new AwsError('InvalidToken', "Invalid Token: 'Invalid token'");

/** The `nextToken` of a page that ends at `place`. */
const makeNextToken = (place: string): string => Buffer.from(place).toString('base64url');

/** The place that `makeNextToken` was given; undefined on a first page. */
const readNextToken = (body: Json): string | undefined => {
  const token = optionalText(body, 'nextToken');
  return token === undefined ? undefined : Buffer.from(token, 'base64url').toString();
};

/** One page of a list that only grows at its end. Throws `InvalidToken`. */
export const takePage = <T>(body: Json, items: readonly T[]): { page: T[]; nextToken?: string } => {
  const from = Number(readNextToken(body) ?? 0);
  if (!Number.isInteger(from) || from < 0) throw invalidToken();
  const to = from + pageSize(body);
  return { page: items.slice(from, to), ...(to < items.length && { nextToken: makeNextToken(String(to)) }) };
};

/**
 * A page of a list that may grow at the start: the page continues after the last name of the previous page. Throws
 * `InvalidToken`.
 */
export const takePageByName = <T extends { name: string }>(
  body: Json,
  items: readonly T[],
  isWanted: (item: T) => boolean,
): { page: T[]; nextToken?: string } => {
  const after = readNextToken(body);
  const from = after === undefined ? 0 : items.findIndex(({ name }) => name === after) + 1;
  if (after !== undefined && from === 0) throw invalidToken();
  const matching = items.slice(from).filter(isWanted);
  const page = matching.slice(0, pageSize(body));
  const last = page.at(-1);
  return { page, ...(last && page.length < matching.length && { nextToken: makeNextToken(last.name) }) };
};
