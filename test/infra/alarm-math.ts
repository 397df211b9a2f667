/** A value at one period; undefined where a metric has none. */
export type Value = number | undefined;

/** Metrics by their ids in an expression. */
type Values = (id: string) => Value;

const TOKEN = /\s*(>=|<=|>|<|[()[\],+\-*/]|\d+(?:\.\d+)?|[A-Za-z_]\w*)/y;

const tokensOf = (expression: string): string[] => {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < expression.trimEnd().length) {
    const found = TOKEN.exec(expression);
    if (!found?.[1]) throw new Error(`This metric math is not known: ${expression}`);
    tokens.push(found[1]);
  }
  return tokens;
};

/** An operation on two values has no value where one of them has none, as in CloudWatch. */
const both = (left: Value, right: Value, operate: (left: number, right: number) => number): Value =>
  left === undefined || right === undefined ? undefined : operate(left, right);

const OPERATIONS: Record<string, (left: number, right: number) => number> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
  '>=': (left, right) => Number(left >= right),
  '<=': (left, right) => Number(left <= right),
  '>': (left, right) => Number(left > right),
  '<': (left, right) => Number(left < right),
};
const LEVELS = [
  ['>=', '<=', '>', '<'],
  ['+', '-'],
  ['*', '/'],
];

/** `SUM` and `MAX` take an array, and what has a value in it. */
const FUNCTIONS: Record<string, (given: Value[]) => Value> = {
  MAX: (values) => {
    const known = values.filter((value) => value !== undefined);
    return known.length === 0 ? undefined : Math.max(...known);
  },
  IF: ([condition, then, otherwise]) => (condition === undefined ? undefined : condition ? then : otherwise),
  FILL: ([value, otherwise]) => value ?? otherwise,
  SUM: (values) =>
    values.every((value) => value === undefined)
      ? undefined
      : values.reduce<number>((sum, value) => sum + (value ?? 0), 0),
};

/**
 * The value of an expression of CloudWatch's metric math at one period, as far as our alarms use it:
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html. Throws for anything else.
 */
export const calculate = (expression: string, values: Values): Value => {
  const tokens = tokensOf(expression);
  const take = (wanted?: string): string => {
    const token = tokens.shift();
    if (token === undefined || (wanted !== undefined && token !== wanted)) {
      throw new Error(`Expected ${wanted ?? 'more'} in ${expression}.`);
    }
    return token;
  };
  const list = (end: string): Value[] => {
    const found = [level(0)];
    while (tokens[0] === ',') {
      take(',');
      found.push(level(0));
    }
    take(end);
    return found;
  };
  const call = (name: string): Value => {
    const run = FUNCTIONS[name];
    if (!run) throw new Error(`The function ${name} is not known.`);
    take('(');
    if (tokens[0] !== '[') return run(list(')'));
    take('[');
    const given = list(']');
    take(')');
    return run(given);
  };
  const term = (): Value => {
    const token = take();
    if (token === '(') {
      const inner = level(0);
      take(')');
      return inner;
    }
    if (/^\d/.test(token)) return Number(token);
    return tokens[0] === '(' ? call(token) : values(token);
  };
  const level = (index: number): Value => {
    const operators = LEVELS[index];
    if (!operators) return term();
    let left = level(index + 1);
    while (operators.includes(tokens[0] ?? '')) {
      const operate = OPERATIONS[take()];
      if (operate) left = both(left, level(index + 1), operate);
    }
    return left;
  };
  const result = level(0);
  if (tokens.length > 0) throw new Error(`${tokens[0]} is too much in ${expression}.`);
  return result;
};
