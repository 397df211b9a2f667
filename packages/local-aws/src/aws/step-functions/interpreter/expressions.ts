import { runtimeError, TaskError } from './errors.ts';

/** The data that paths read: a state's input, and with `$$` its context object. */
export interface Scope {
  data: unknown;
  context: unknown;
}

type Evaluate = (scope: Scope) => unknown;
type Json = Record<string, unknown>;

const PATH = /^\$(\$)?((?:\.[\p{L}_][\p{L}\p{N}_-]*|\[\d+\]|\['[^'\\]*'\])*)$/u;
const STEP = /\.([\p{L}_][\p{L}\p{N}_-]*)|\[(\d+)\]|\['([^'\\]*)'\]/gu;

/** The names of a path, outermost first. Throws for wildcards, filters and whatever else selects several values. */
const readSteps = (path: string): { isContext: boolean; steps: string[] } => {
  const [, isContext, text] = PATH.exec(path) ?? [];
  if (text === undefined) throw new Error(`the path ${path} cannot be run locally`);
  const steps = [...text.matchAll(STEP)].map(([, name, index, quoted]) => name ?? index ?? quoted ?? '');
  return { isContext: isContext !== undefined, steps };
};

const compilePath = (path: string): Evaluate => {
  const { isContext, steps } = readSteps(path);
  return ({ data, context }) => {
    let value = isContext ? context : data;
    for (const step of steps) {
      if (typeof value !== 'object' || value === null) return undefined;
      value = (value as Json)[step];
    }
    return value;
  };
};

const failed = (cause: string): TaskError => new TaskError('States.IntrinsicFailure', cause);

const parse = (text: unknown): unknown => {
  try {
    return JSON.parse(String(text));
  } catch {
    throw failed(`States.StringToJson was given no JSON: ${text}`);
  }
};

const add = (left: unknown, right: unknown): number => {
  if (typeof left === 'number' && typeof right === 'number') return left + right;
  throw failed(`States.MathAdd was given no numbers: ${left}, ${right}`);
};

const format = ([template, ...values]: unknown[]): string => {
  if (String(template).split('{}').length - 1 !== values.length) {
    throw failed(`States.Format was given ${values.length} values for '${template}'`);
  }
  return String(template).replaceAll('{}', () => {
    const value = values.shift();
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
};

/** The intrinsic functions that run locally. https://docs.aws.amazon.com/step-functions/latest/dg/intrinsic-functions.html */
const FUNCTIONS: Record<string, (values: unknown[]) => unknown> = {
  'States.Array': (values) => values,
  'States.Format': format,
  'States.JsonToString': ([value]) => JSON.stringify(value),
  'States.MathAdd': ([left, right]) => add(left, right),
  'States.StringToJson': ([text]) => parse(text),
};

const TOKEN =
  /\s*(?:(States\.\w+)\s*\(|'((?:[^'\\]|\\.)*)'|(-?\d+(?:\.\d+)?|true|false|null)|(\$[^,()\s]*))\s*/uy;

/** Reads a call of an intrinsic function with its arguments, which may be calls themselves. */
const compileCall = (text: string): Evaluate => {
  let at = 0;
  const take = (mark: string): boolean => {
    if (text[at] !== mark) return false;
    at += 1;
    while (text[at] === ' ') at += 1;
    return true;
  };
  const bad = () => new Error(`${text} cannot be run locally`);
  const readTerm = (): Evaluate => {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text);
    if (!found) throw bad();
    at = TOKEN.lastIndex;
    const [, name, quoted, literal, path] = found;
    if (path !== undefined) return required(path);
    if (name === undefined) {
      const value: unknown = literal === undefined ? quoted?.replace(/\\(.)/g, '$1') : JSON.parse(literal);
      return () => value;
    }
    const call = FUNCTIONS[name];
    if (!call) throw bad();
    const terms: Evaluate[] = [];
    if (!take(')')) {
      do terms.push(readTerm());
      while (take(','));
      if (!take(')')) throw bad();
    }
    return (scope) => call(terms.map((term) => term(scope)));
  };
  const evaluate = readTerm();
  if (at < text.length) throw bad();
  return evaluate;
};

const required = (path: string): Evaluate => {
  const evaluate = compiled(path);
  return (scope) => {
    const value = evaluate(scope);
    if (value === undefined) throw runtimeError(`The JSONPath '${path}' could not be found in the input`);
    return value;
  };
};

const known = new Map<string, Evaluate>();

const compiled = (text: string): Evaluate => {
  const found = known.get(text);
  if (found) return found;
  const evaluate = text.startsWith('States.') ? compileCall(text) : compilePath(text);
  known.set(text, evaluate);
  return evaluate;
};

/** Throws for a path or an intrinsic function that does not run locally. */
export const checkExpression = (text: string): void => {
  compiled(text);
};

/** The value at a path; undefined where it leads nowhere. */
export const find = (path: string, scope: Scope): unknown => compiled(path)(scope);

/** The value of a path or an intrinsic function. Throws `States.Runtime` where a path leads nowhere. */
export const evaluate = (text: string, scope: Scope): unknown =>
  text.startsWith('States.') ? compiled(text)(scope) : required(text)(scope);

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

/** The part of the data that `InputPath` or `OutputPath` selects: everything by default, nothing with null. */
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
  return path === undefined ? result : put(data, readSteps(path).steps);
};
