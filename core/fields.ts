import * as z from 'zod/mini';
import type { FieldErrors, ValidationError } from './errors.ts';

/** A JSON body that was read, or why it cannot be. */
export type ReadBody = { ok: true; body: Record<string, unknown> } | { ok: false; error: ValidationError };

/** A path in dotted form, with indexes in brackets: `references[2]`, `sequentialOptions.maxImages`. */
export const fieldPath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');

/** No messages. Has no prototype, so that `constructor` and `__proto__` are ordinary field names. */
const noFieldErrors = (): FieldErrors => Object.create(null);

/** The first message for each wrong field of a parse, unknown fields included. */
const fieldErrorsOf = (error: z.core.$ZodError): FieldErrors => {
  const fields = noFieldErrors();
  const add = (path: readonly PropertyKey[], message: string): void => {
    fields[fieldPath(path)] ??= message;
  };
  for (const issue of error.issues) {
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) add([...issue.path, key], 'is not a known field');
    } else {
      add(issue.path, issue.message);
    }
  }
  return fields;
};

/** The fields of an object by their names. */
export type Shape = Record<string, z.ZodMiniType>;

/** The values of the fields of a shape. */
export type Values<Fields extends Shape> = { [Name in keyof Fields]: z.infer<Fields[Name]> };

/**
 * Checks each field of an object separately, and returns the values of the valid fields and a message for each invalid field. The
 * caller learns every problem at once, and rules across fields can still check the valid fields. Fields outside the shape are
 * invalid.
 */
export const parseFields = <Fields extends Shape>(
  shape: Fields,
  input: Record<string, unknown>,
): { values: Partial<Values<Fields>>; fields: FieldErrors } => {
  const values: Partial<Values<Fields>> = {};
  const fields = noFieldErrors();
  for (const name of Object.keys(input)) {
    if (!Object.hasOwn(shape, name)) fields[name] = 'is not a known field';
  }
  for (const [name, schema] of Object.entries(shape) as [keyof Fields & string, Fields[string]][]) {
    const result = schema.safeParse(Object.hasOwn(input, name) ? input[name] : undefined);
    if (result.success) {
      values[name] = result.data as z.infer<Fields[typeof name]>;
      continue;
    }
    for (const [path, message] of Object.entries(fieldErrorsOf(result.error))) {
      const separator = path === '' || path.startsWith('[') ? '' : '.';
      fields[`${name}${separator}${path}`] = message;
    }
  }
  return { values, fields };
};

/** An array of at most `most` items; `message` says so. Its length is checked before its items. */
export const shortList = <Item extends z.ZodMiniType>(
  item: Item,
  most: number,
  message: string,
  notAnArray: string | z.core.$ZodErrorMap<z.core.$ZodIssueInvalidType>,
) =>
  z.pipe(
    z.array(z.unknown(), { error: notAnArray }).check(z.maxLength(most, { error: message })),
    z.array(item),
  );

/** The length of a field of a body that is an array, else 0. */
export const listLength = (value: unknown): number => (Array.isArray(value) ? value.length : 0);

const REQUIRED_TEXT = (issue: { input?: unknown }): string =>
  issue.input === undefined ? 'is required' : 'must be a string';

/** A required string. */
export const text = () => z.string({ error: REQUIRED_TEXT });

/** An optional string; null is not accepted. */
export const optionalText = () => z.optional(z.string({ error: 'must be a string' }));

/** An optional whole number of at least 1. */
export const optionalCount = () =>
  z.optional(z.int({ error: 'must be a whole number' }).check(z.gte(1, { error: 'must be at least 1' })));
