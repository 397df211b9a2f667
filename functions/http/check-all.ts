import { type FieldErrors, ValidationError } from '../../core/errors.ts';

/** What all of the checks find wrong with a request, by field. Rethrows any other error. */
export const wrongFields = (...checks: (() => unknown)[]): FieldErrors =>
  Object.assign(
    {},
    ...checks.map((check) => {
      try {
        check();
        return {};
      } catch (error) {
        if (error instanceof ValidationError) return error.fields;
        throw error;
      }
    }),
  );

/**
 * What `read` gives, once every other check passes too. Each runs once; throws one `ValidationError` that
 * names everything any of them found wrong.
 */
export const checkAll = <T>(read: () => T, ...others: (() => unknown)[]): T => {
  const results: T[] = [];
  const fields = wrongFields(...others, () => results.push(read()));
  if (Object.keys(fields).length > 0) throw new ValidationError(fields);
  return results[0] as T;
};
