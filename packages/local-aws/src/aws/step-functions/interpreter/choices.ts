import { runtimeError } from './errors.ts';
import { find, type Scope } from './expressions.ts';
import { instantOf } from './timestamps.ts';

/** A comparison of a Choice state, alone or in `And`, `Or` or `Not`. */
export interface Rule {
  Next?: string;
  Variable?: string;
  And?: Rule[];
  Or?: Rule[];
  Not?: Rule;
  [comparison: string]: unknown;
}

const TYPES: Record<string, (value: unknown) => unknown> = {
  String: (value) => (typeof value === 'string' ? value : undefined),
  Numeric: (value) => (typeof value === 'number' ? value : undefined),
  Boolean: (value) => (typeof value === 'boolean' ? value : undefined),
  Timestamp: instantOf,
};

type Comparable = string | number;

const ORDERS: Record<string, (left: Comparable, right: Comparable) => boolean> = {
  Equals: (left, right) => left === right,
  LessThan: (left, right) => left < right,
  LessThanEquals: (left, right) => left <= right,
  GreaterThan: (left, right) => left > right,
  GreaterThanEquals: (left, right) => left >= right,
};

const TYPE_TESTS: Record<string, (value: unknown) => boolean> = {
  IsNull: (value) => value === null,
  IsNumeric: (value) => typeof value === 'number',
  IsString: (value) => typeof value === 'string',
  IsBoolean: (value) => typeof value === 'boolean',
  IsTimestamp: (value) => instantOf(value) !== undefined,
};

const COMPARISON =
  /^(String|Numeric|Boolean|Timestamp)(Equals|LessThan|LessThanEquals|GreaterThan|GreaterThanEquals)(Path)?$/;

const comparisonOf = ({ Variable: _v, Next: _n, Comment: _c, ...rest }: Rule): [string, unknown] =>
  Object.entries(rest)[0] ?? ['', undefined];

/** Throws for a comparison that does not run locally. */
export const checkRule = (rule: Rule): void => {
  const parts = [...(rule.And ?? []), ...(rule.Or ?? []), ...(rule.Not ? [rule.Not] : [])];
  for (const part of parts) checkRule(part);
  if (parts.length > 0) return;
  const [comparison] = comparisonOf(rule);
  const isKnown =
    ['IsPresent', 'StringMatches'].includes(comparison) ||
    comparison in TYPE_TESTS ||
    COMPARISON.test(comparison);
  if (!isKnown) throw new Error(`the comparison ${comparison} cannot be run locally`);
};

/** `*` stands for any characters, `\*` for itself. */
const matchesPattern = (pattern: string, value: unknown): boolean => {
  if (typeof value !== 'string') return false;
  const source = pattern.replace(/\\[*\\]|[\\^$.*+?()[\]{}|]/g, (mark) =>
    mark === '*' ? '.*' : `\\${mark.at(-1)}`,
  );
  return new RegExp(`^${source}$`, 's').test(value);
};

const present = (path: string, scope: Scope): unknown => {
  const value = find(path, scope);
  if (value !== undefined) return value;
  throw runtimeError(
    `Invalid path '${path}': The choice state's condition path references an invalid value.`,
  );
};

/** Whether a rule holds. Throws `States.Runtime` for a variable that is absent, unless its presence is the question. */
export const holds = (rule: Rule, scope: Scope): boolean => {
  if (rule.And) return rule.And.every((part) => holds(part, scope));
  if (rule.Or) return rule.Or.some((part) => holds(part, scope));
  if (rule.Not) return !holds(rule.Not, scope);
  const { Variable = '$' } = rule;
  const [comparison, expected] = comparisonOf(rule);
  if (comparison === 'IsPresent') return (find(Variable, scope) !== undefined) === expected;
  const value = present(Variable, scope);
  if (comparison === 'StringMatches') return matchesPattern(String(expected), value);
  const test = TYPE_TESTS[comparison];
  if (test) return test(value) === expected;
  const [, type = '', order = '', isPath] = COMPARISON.exec(comparison) ?? [];
  const other = isPath === undefined ? expected : present(String(expected), scope);
  const left = TYPES[type]?.(value);
  const right = TYPES[type]?.(other);
  if (left === undefined || right === undefined) return false;
  return ORDERS[order]?.(left as Comparable, right as Comparable) ?? false;
};
