/** The part of the Amazon States Language that the service's definitions use. */
export interface State {
  Type: 'Task' | 'Choice' | 'Wait' | 'Succeed' | 'Fail' | 'Pass' | 'Map';
  Next?: string;
  End?: boolean;
  Resource?: string;
  Parameters?: Record<string, unknown>;
  ResultSelector?: Record<string, unknown>;
  ResultPath?: string | null;
  InputPath?: string;
  OutputPath?: string;
  TimeoutSeconds?: number;
  TimeoutSecondsPath?: string;
  HeartbeatSeconds?: number;
  HeartbeatSecondsPath?: string;
  Seconds?: number;
  SecondsPath?: string;
  Timestamp?: string;
  TimestampPath?: string;
  Result?: unknown;
  Choices?: Rule[];
  Default?: string;
  Error?: string;
  Cause?: string;
  Retry?: Retrier[];
  Catch?: Catcher[];
  ItemsPath?: string;
  MaxConcurrency?: number;
  ToleratedFailurePercentage?: number;
  ItemProcessor?: Definition;
}

export interface Retrier {
  ErrorEquals: string[];
  IntervalSeconds?: number;
  BackoffRate?: number;
  MaxDelaySeconds?: number;
  MaxAttempts?: number;
  JitterStrategy?: string;
}

export interface Catcher {
  ErrorEquals: string[];
  ResultPath?: string;
  Next: string;
}

/** A comparison, alone or in `And`, `Or` or `Not`. */
export interface Rule {
  Next?: string;
  Variable?: string;
  And?: Rule[];
  Or?: Rule[];
  Not?: Rule;
  [comparison: string]: unknown;
}

export interface Definition {
  StartAt: string;
  TimeoutSeconds?: number;
  States: Record<string, State>;
}

/** What an error is called and says, as a state catches it. */
export class StateError extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

const PATH = /^\$(\$)?((?:\.\w+|\[\d+\])*)$/;

/** The value at a path of a state's data, or with `$$` of the context object; undefined when there is none. */
export const valueAt = (path: string, data: unknown, context: unknown): unknown => {
  const [, isContext, steps] = PATH.exec(path) ?? [];
  if (steps === undefined) throw new Error(`The path ${path} is not understood.`);
  return [...steps.matchAll(/\w+/g)].reduce<unknown>(
    (value, [step]) => (value as Record<string, unknown> | null | undefined)?.[step],
    isContext ? context : data,
  );
};

const FORMAT = /^States\.Format\('((?:[^'\\]|\\.)*)'((?:,\s*[^,)]+)*)\)$/;
const MATH = /^States\.MathAdd\(([^,]+),([^)]+)\)$/;

/** A path, or one of the intrinsic functions the definitions use. Throws `States.Runtime` when it leads nowhere. */
export const resolve = (expression: string, data: unknown, context: unknown): unknown => {
  const format = FORMAT.exec(expression);
  if (format) {
    const values = (format[2] ?? '').split(',').filter((part) => part.trim() !== '');
    return (format[1] ?? '').replace(/\{\}/g, () =>
      String(resolve((values.shift() ?? '').trim(), data, context)),
    );
  }
  const math = MATH.exec(expression);
  if (math) {
    const [left, right] = [math[1] ?? '', math[2] ?? ''].map((part) => {
      const text = part.trim();
      return text.startsWith('$') ? Number(resolve(text, data, context)) : Number(text);
    }) as [number, number];
    return left + right;
  }
  const value = valueAt(expression, data, context);
  if (value === undefined) throw new StateError('States.Runtime', `${expression} is not in the data.`);
  return value;
};

/** A payload template with its `.$` fields filled in. */
export const fill = (template: unknown, data: unknown, context: unknown): unknown => {
  if (Array.isArray(template)) return template.map((part) => fill(part, data, context));
  if (typeof template !== 'object' || template === null) return template;
  return Object.fromEntries(
    Object.entries(template).map(([name, part]) =>
      name.endsWith('.$')
        ? [name.slice(0, -2), resolve(String(part), data, context)]
        : [name, fill(part, data, context)],
    ),
  );
};

/** The data with a result put where `ResultPath` says. */
export const place = (path: string | null | undefined, data: unknown, result: unknown): unknown => {
  if (path === null) return data;
  if (path === undefined || path === '$') return result;
  const steps = [...path.matchAll(/\w+/g)].map(([step]) => step);
  const put = (value: unknown, [step, ...rest]: string[]): unknown =>
    step === undefined
      ? result
      : { ...(value as object), [step]: put((value as Record<string, unknown> | undefined)?.[step], rest) };
  return put(data, steps);
};

/** Whether a rule of a choice holds. */
export const holds = (rule: Rule, data: unknown, context: unknown): boolean => {
  if (rule.And) return rule.And.every((part) => holds(part, data, context));
  if (rule.Or) return rule.Or.some((part) => holds(part, data, context));
  if (rule.Not) return !holds(rule.Not, data, context);
  const { Variable = '$', Next: _, Comment: __, ...comparisons } = rule;
  const value = valueAt(Variable, data, context);
  const [[comparison, expected] = ['', undefined]] = Object.entries(comparisons);
  switch (comparison) {
    case 'StringEquals':
    case 'NumericEquals':
    case 'BooleanEquals':
      return value === expected;
    case 'IsPresent':
      return (value !== undefined) === expected;
    case 'IsNull':
      return (value === null) === expected;
    case 'NumericLessThan':
      return Number(value) < Number(expected);
    case 'NumericGreaterThan':
      return Number(value) > Number(expected);
    case 'NumericGreaterThanEquals':
      return Number(value) >= Number(expected);
    case 'NumericLessThanEqualsPath':
      return Number(value) <= Number(valueAt(String(expected), data, context));
    default:
      throw new Error(`The comparison ${comparison} is not understood.`);
  }
};
