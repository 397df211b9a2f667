import { runtimeError, TaskError } from './errors.ts';

/** The data that paths read: a state's input, and with `$$` its context object. */
export interface Scope {
  data: unknown;
  context: unknown;
}

type Json = Record<string, unknown>;

interface Path {
  isContext: boolean;
  steps: string[];
}

const PATH = /^\$(\$)?((?:\.[\p{L}_][\p{L}\p{N}_-]*|\[\d+\]|\['[^'\\]*'\])*)$/u;
const STEP = /\.([\p{L}_][\p{L}\p{N}_-]*)|\[(\d+)\]|\['([^'\\]*)'\]/gu;
const known = new Map<string, Path>();

/**
 * The names of a path, outermost first. Throws for what does not run locally: wildcards, filters and whatever else selects several
 * values, intrinsic functions, and the item of a Map.
 */
export const readPath = (path: string): Path => {
  const found = known.get(path);
  if (found) return found;
  const [, isContext, text] = PATH.exec(path) ?? [];
  if (text === undefined || path.startsWith('$$.Map'))
    throw new Error(`the path ${path} cannot be run locally`);
  const steps = [...text.matchAll(STEP)].map(([, name, index, quoted]) => name ?? index ?? quoted ?? '');
  const read = { isContext: isContext !== undefined, steps };
  known.set(path, read);
  return read;
};

/** The value at a path; undefined where it leads nowhere. */
export const find = (path: string, { data, context }: Scope): unknown => {
  const { isContext, steps } = readPath(path);
  return steps.reduce<unknown>(
    (value, step) => (typeof value === 'object' && value !== null ? (value as Json)[step] : undefined),
    isContext ? context : data,
  );
};

/** The value at a path. Throws `States.Runtime` where it leads nowhere. */
export const evaluate = (path: string, scope: Scope): unknown => {
  const value = find(path, scope);
  if (value === undefined) throw runtimeError(`The JSONPath '${path}' could not be found in the input`);
  return value;
};

/** A payload template with the values of its `.$` fields. */
export const fill = (template: unknown, scope: Scope): unknown => {
  if (Array.isArray(template)) return template.map((part) => fill(part, scope));
  if (typeof template !== 'object' || template === null) return template;
  return Object.fromEntries(
    Object.entries(template).map(([name, part]) =>
      name.endsWith('.$') ? [name.slice(0, -2), evaluate(String(part), scope)] : [name, fill(part, scope)],
    ),
  );
};

/** The part of the data that `OutputPath` selects: everything by default, nothing with null. */
export const select = (path: string | null | undefined, scope: Scope): unknown => {
  if (path === null) return {};
  return path === undefined ? scope.data : evaluate(path, scope);
};

/** The data with a result at `ResultPath`. Throws `States.ResultPathMatchFailure` where the data has no room for it. */
export const place = (path: string | null | undefined, data: unknown, result: unknown): unknown => {
  if (path === null) return data;
  const put = (value: unknown, [step, ...rest]: string[]): unknown => {
    if (step === undefined) return result;
    if (value !== undefined && (typeof value !== 'object' || value === null || Array.isArray(value))) {
      throw new TaskError('States.ResultPathMatchFailure', `Unable to apply ResultPath ${path}`);
    }
    const inner = value as Json | undefined;
    return { ...inner, [step]: put(inner?.[step], rest) };
  };
  return path === undefined ? result : put(data, readPath(path).steps);
};
