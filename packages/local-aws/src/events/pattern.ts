import type { AwsEvent } from '../types.ts';

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The texts that a matcher `anything-but` excludes; undefined for any other matcher. */
const excludedBy = (matcher: unknown): readonly unknown[] | undefined => {
  if (!isObject(matcher) || Object.keys(matcher).length !== 1) return undefined;
  const excluded = matcher['anything-but'];
  return Array.isArray(excluded) && excluded.every((value) => typeof value === 'string')
    ? excluded
    : undefined;
};

/**
 * Throws, naming the field, unless a pattern holds only lists of exact values, objects of these, alternatives in a list `$or`, and lists of
 * texts under `anything-but`. EventBridge's other matchers are not supported.
 */
export const checkPattern = (pattern: Json, path = ''): void => {
  for (const [name, wanted] of Object.entries(pattern)) {
    const field = `${path}${name}`;
    if (name === '$or') {
      if (!Array.isArray(wanted) || wanted.length < 2 || !wanted.every(isObject)) {
        throw new Error(`The event pattern's ${field} is not a list of alternatives`);
      }
      for (const alternative of wanted) checkPattern(alternative, path);
    } else if (isObject(wanted)) {
      checkPattern(wanted, `${field}.`);
    } else if (!Array.isArray(wanted) || wanted.length === 0) {
      throw new Error(`The event pattern's ${field} is not a list of values`);
    } else if (
      wanted.some((matcher) => typeof matcher === 'object' && matcher !== null && !excludedBy(matcher))
    ) {
      throw new Error(`The event pattern's ${field} holds a matcher that the local run does not know`);
    }
  }
};

/** Whether a field of the event matches. In a list, one matching value is enough; an absent field matches nothing. */
const matchesField = (wanted: unknown, value: unknown): boolean => {
  if (!Array.isArray(wanted)) return isObject(value) && matchesFields(wanted as Json, value);
  const values = Array.isArray(value) ? value : [value];
  return wanted.some((matcher) => {
    const excluded = excludedBy(matcher);
    return excluded ? !values.some((one) => excluded.includes(one)) : values.includes(matcher);
  });
};

const matchesFields = (pattern: Json, value: Json): boolean =>
  Object.entries(pattern).every(([name, wanted]) =>
    name === '$or'
      ? (wanted as Json[]).some((alternative) => matchesFields(alternative, value))
      : Object.hasOwn(value, name) && matchesField(wanted, value[name]),
  );

/** Whether every field in the pattern has one of the wanted values in the event. */
export const matchesEvent = (pattern: Json, event: AwsEvent): boolean => matchesFields(pattern, { ...event });
