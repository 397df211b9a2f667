/**
 * Stands for `zod/mini` in the browser, whose 9 kB are a sixth of the console's script. Has only the parts that the
 * creation rules use; a test compares the results of both on bodies of creations. The rules give a message for every
 * refusal, so this module has no messages.
 */
interface Issue {
  code: string;
  path: PropertyKey[];
  message: string;
  keys?: string[];
}
type Told = string | ((issue: { input: unknown }) => string);
interface Params {
  error?: Told;
}
type Read = { value: unknown; issues: Issue[] };
type Check = (value: unknown) => string | undefined;

interface Schema {
  read: (input: unknown) => Read;
  check: (...checks: Check[]) => Schema;
  safeParse: (
    input: unknown,
  ) => { success: true; data: unknown } | { success: false; error: { issues: Issue[] } };
}

const issue = (message: string): Issue => ({ code: 'custom', path: [], message });
const refused = ({ error }: Params, input: unknown): Issue =>
  issue(typeof error === 'function' ? error({ input }) : (error ?? 'is invalid'));

/* @__NO_SIDE_EFFECTS__ */
const schema = (read: Schema['read']): Schema => ({
  read,
  check: (...checks) =>
    schema((input) => {
      const result = read(input);
      if (result.issues.length > 0) return result;
      return { ...result, issues: checks.flatMap((check) => check(result.value) ?? []).map(issue) };
    }),
  safeParse: (input) => {
    const { value, issues } = read(input);
    return issues.length === 0 ? { success: true, data: value } : { success: false, error: { issues } };
  },
});

/* @__NO_SIDE_EFFECTS__ */
const typed = (isOf: (input: unknown) => boolean, params: Params = {}): Schema =>
  schema((input) => ({ value: input, issues: isOf(input) ? [] : [refused(params, input)] }));

const isObject = (input: unknown): input is Record<string, unknown> =>
  typeof input === 'object' && input !== null && !Array.isArray(input);

/* @__NO_SIDE_EFFECTS__ */
export const unknown = (): Schema => typed(() => true);
/* @__NO_SIDE_EFFECTS__ */
export const string = (params?: Params): Schema => typed((input) => typeof input === 'string', params);
/* @__NO_SIDE_EFFECTS__ */
export const int = (params?: Params): Schema => typed(Number.isSafeInteger, params);
/* @__NO_SIDE_EFFECTS__ */
export const number = (params?: Params): Schema => typed(Number.isFinite, params);
/* @__NO_SIDE_EFFECTS__ */
export const boolean = (params?: Params): Schema => typed((input) => typeof input === 'boolean', params);
/* @__NO_SIDE_EFFECTS__ */
export const literal = (value: unknown, params?: Params): Schema => typed((input) => input === value, params);
/* @__NO_SIDE_EFFECTS__ */
const oneOf = (values: readonly unknown[], params?: Params): Schema =>
  typed((input) => values.includes(input), params);

export { oneOf as enum };

/* @__NO_SIDE_EFFECTS__ */
export const optional = (inner: Schema): Schema =>
  schema((input) => (input === undefined ? { value: undefined, issues: [] } : inner.read(input)));
/* @__NO_SIDE_EFFECTS__ */
export const transform = (change: (value: never) => unknown): Schema =>
  schema((input) => ({ value: change(input as never), issues: [] }));
/* @__NO_SIDE_EFFECTS__ */
export const pipe = (first: Schema, second: Schema): Schema =>
  schema((input) => {
    const result = first.read(input);
    return result.issues.length > 0 ? result : second.read(result.value);
  });

const under = (key: PropertyKey, { issues }: Read): Issue[] =>
  issues.map((one) => ({ ...one, path: [key, ...one.path] }));

/* @__NO_SIDE_EFFECTS__ */
export const array = (item: Schema, params: Params = {}): Schema =>
  schema((input) => {
    if (!Array.isArray(input)) return { value: input, issues: [refused(params, input)] };
    const items = input.map((one) => item.read(one));
    return {
      value: items.map(({ value }) => value),
      issues: items.flatMap((one, index) => under(index, one)),
    };
  });

/* @__NO_SIDE_EFFECTS__ */
const otherwise = (inner: Schema, value: unknown): Schema =>
  schema((input) => {
    const result = inner.read(input);
    return result.issues.length > 0 ? { value, issues: [] } : result;
  });

export { otherwise as catch };

/* @__NO_SIDE_EFFECTS__ */
const objectOf = (shape: Record<string, Schema>, params: Params, isStrict: boolean): Schema =>
  schema((input) => {
    if (!isObject(input)) return { value: input, issues: [refused(params, input)] };
    const read = Object.entries(shape).map(([key, one]) => [key, one.read(input[key])] as const);
    const keys = Object.keys(input).filter((key) => !Object.hasOwn(shape, key));
    const value = read.flatMap(([key, one]) =>
      one.value === undefined && !(key in input) ? [] : [[key, one.value] as const],
    );
    const issues = read.flatMap(([key, one]) => under(key, one));
    if (isStrict && keys.length > 0) issues.push({ code: 'unrecognized_keys', path: [], message: '', keys });
    return { value: Object.fromEntries(value), issues };
  });
/* @__NO_SIDE_EFFECTS__ */
export const object = (shape: Record<string, Schema>, params: Params = {}): Schema =>
  objectOf(shape, params, false);
/* @__NO_SIDE_EFFECTS__ */
export const strictObject = (shape: Record<string, Schema>, params: Params = {}): Schema =>
  objectOf(shape, params, true);

const told = ({ error = '' }: Params, input: unknown): string =>
  typeof error === 'function' ? error({ input }) : error;
/* @__NO_SIDE_EFFECTS__ */
export const refine =
  (isRight: (value: never) => boolean, params: Params = {}): Check =>
  (value) =>
    isRight(value as never) ? undefined : told(params, value);
/* @__NO_SIDE_EFFECTS__ */
export const gte = (least: number, params?: Params): Check =>
  refine((value: number) => value >= least, params);
/* @__NO_SIDE_EFFECTS__ */
export const positive = (params?: Params): Check => refine((value: number) => value > 0, params);
/* @__NO_SIDE_EFFECTS__ */
export const maxLength = (most: number, params?: Params): Check =>
  refine((value: string | unknown[]) => value.length <= most, params);
