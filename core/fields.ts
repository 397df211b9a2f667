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
    } else if (issue.code === 'invalid_key') {
      add(issue.path, 'is not a valid name');
    } else {
      add(issue.path, issue.message);
    }
  }
  return fields;
};

/** The values of the valid fields, and a message for each invalid one. */
export interface ParsedFields<T> {
  values: Partial<T>;
  fields: FieldErrors;
}

/**
 * Checks each field of an object on its own, so that rules across fields can still check the valid ones and
 * the caller learns of every problem at once. Fields that the shape does not have are invalid.
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

/** An optional whole number of at least `minimum`; `message` says so. */
export const optionalInteger = (minimum: number, message: string) =>
  z.optional(z.int({ error: 'must be a whole number' }).check(z.gte(minimum, { error: message })));
