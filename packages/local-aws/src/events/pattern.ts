import type { AwsEvent } from '../types.ts';

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Throws, naming the field, unless a pattern holds only lists of exact values, and objects of these: EventBridge's matchers are not supported. */
export const checkPattern = (pattern: Json, path = ''): void => {
  for (const [name, wanted] of Object.entries(pattern)) {
    const field = `${path}${name}`;
    if (isObject(wanted)) {
      checkPattern(wanted, `${field}.`);
    } else if (!Array.isArray(wanted) || wanted.length === 0) {
      throw new Error(`The event pattern's ${field} is not a list of values`);
    } else if (wanted.some((matcher) => typeof matcher === 'object' && matcher !== null)) {
      throw new Error(`The event pattern's ${field} holds a matcher that the local run does not know`);
    }
  }
};

/** Whether a field of the event matches. In a list, one matching value is enough; an absent field matches nothing. */
const matchesField = (wanted: unknown, value: unknown): boolean => {
  if (!Array.isArray(wanted)) return isObject(value) && matchesFields(wanted as Json, value);
  const values = Array.isArray(value) ? value : [value];
  return wanted.some((matcher) => values.includes(matcher));
};

const matchesFields = (pattern: Json, value: Json): boolean =>
  Object.entries(pattern).every(
    ([name, wanted]) => Object.hasOwn(value, name) && matchesField(wanted, value[name]),
  );

/** Whether every field in the pattern has one of the listed values in the event. */
export const matchesEvent = (pattern: Json, event: AwsEvent): boolean => matchesFields(pattern, { ...event });
