import { type FieldErrors, ValidationError } from '../../core/errors.ts';

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
