import * as z from 'zod/mini';
import { logger } from '../core/observability.ts';
import type { ProviderId } from '../core/provider-names.ts';

/**
 * A field that a provider may leave out or send as null: both mean that there is none. Every optional field of both
 * providers is read by this.
 */
export const optional = <Schema extends z.core.$ZodType>(schema: Schema) =>
  z.pipe(
    z.nullish(schema),
    z.transform((value) => value ?? undefined),
  );

/** Text that says something: an empty one counts as absent, as `optional` reads it. */
export const optionalText = () =>
  z.pipe(
    z.nullish(z.string()),
    z.transform((value) => value || undefined),
  );

/** A number that says something; anything else counts as absent, because no answer may fail for it. */
export const optionalNumber = () =>
  z.pipe(
    z.optional(z.unknown()),
    z.transform((value) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined)),
  );

/** Text for people that says something; anything else counts as absent, because no answer may fail for it. */
export const saidText = () =>
  z.pipe(
    z.optional(z.unknown()),
    z.transform((value) => (typeof value === 'string' && value !== '' ? value : undefined)),
  );

/** Text that is needed. */
export const requiredText = () => z.string().check(z.minLength(1));

/** A body as the schema reads it; undefined when it is not of that form. */
export const readBody = <Schema extends z.core.$ZodType>(
  schema: Schema,
  body: unknown,
): z.output<Schema> | undefined => {
  const read = z.safeParse(schema, body);
  return read.success ? read.data : undefined;
};

/** Deeper parts of a body, and more fields of an object, are left out of its shape. */
const MAX_DEPTH = 5;
const MAX_FIELDS = 30;
/** Other keys might be content. */
const FIELD_NAME = /^[A-Za-z_][\w.-]{0,39}$/;

/** The keys and types of a body, never its content: `{output:{task_id:number,choices:[null]}}`. */
const shapeOf = (value: unknown, depth = 0): string => {
  if (value === undefined) return 'no JSON';
  if (value === null) return 'null';
  if (typeof value !== 'object') return typeof value;
  if (depth === MAX_DEPTH) return '…';
  if (Array.isArray(value))
    return `[${[...new Set(value.map((item) => shapeOf(item, depth + 1)))].join('|')}]`;
  const fields = Object.entries(value).map(
    ([name, field]) => `${FIELD_NAME.test(name) ? name : '?'}:${shapeOf(field, depth + 1)}`,
  );
  return `{${[...fields.slice(0, MAX_FIELDS), ...(fields.length > MAX_FIELDS ? ['…'] : [])].join(',')}}`;
};

/** Answers that this process has logged already, as `provider operation status shape`. */
const logged = new Set<string>();
const MAX_LOGGED = 100;

/** Logs the shape of an answer that cannot be read, once in this process: a task is queried again and again. */
export const logUnreadable = (
  provider: ProviderId,
  operation: 'creation' | 'query',
  status: number,
  body: unknown,
): void => {
  const shape = shapeOf(body).slice(0, 2_000);
  const answer = `${provider} ${operation} ${status} ${shape}`;
  if (logged.has(answer) || logged.size >= MAX_LOGGED) return;
  logged.add(answer);
  logger.error('provider answer unreadable', { provider, operation, status, shape });
};
