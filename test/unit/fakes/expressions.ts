/**
 * Evaluates DynamoDB's condition, key and update expressions, as far as the service uses them. Anything else throws, as
 * does an unused or missing placeholder, a group within a group, and a clause that stands twice: DynamoDB refuses these.
 */

/** A DynamoDB item as the document client returns it. */
export type Item = Record<string, unknown>;

/** Values of an expression's `#name` and `:value` placeholders. */
export interface Placeholders {
  names?: Record<string, string> | undefined;
  values?: Record<string, unknown> | undefined;
}

/** The tokens of every expression that was read: there are few, and they are read again and again. */
const known = new Map<string, readonly string[]>();

const tokensOf = (text: string): readonly string[] => {
  const read = known.get(text);
  if (read) return read;
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const match = TOKEN.exec(text);
    if (!match?.[1]) throw new Error(`Not understood: ${text}`);
    tokens.push(match[1]);
  }
  known.set(text, tokens);
  return tokens;
};

const TOKEN = /\s*([#:]?[A-Za-z_][A-Za-z0-9_.#-]*|<=|>=|<>|[=<>(),+-])/y;

class Reader {
  private readonly tokens: readonly string[];
  private place = 0;
  private readonly unused: Set<string>;
  private readonly placeholders: Placeholders;

  constructor(expression: string | undefined, placeholders: Placeholders, unused: Set<string>) {
    this.placeholders = placeholders;
    this.unused = unused;
    this.tokens = expression ? tokensOf(expression) : [];
  }

  peek(): string | undefined {
    return this.tokens[this.place];
  }

  /** Consumes the next token if it is one of these. */
  take(...wanted: string[]): string | undefined {
    const token = this.peek();
    if (token === undefined || !wanted.includes(token)) return undefined;
    this.place++;
    return token;
  }

  /** Throws, as DynamoDB does, where a group is all that the group around it holds. The place is after the outer parenthesis. */
  refuseRedundantGroup(): void {
    if (this.peek() !== '(') return;
    let depth = 0;
    const end = this.tokens.findIndex((token, index) => {
      if (index < this.place) return false;
      depth += token === '(' ? 1 : token === ')' ? -1 : 0;
      return depth === 0;
    });
    if (this.tokens[end + 1] === ')') throw new Error('The expression has redundant parentheses.');
  }

  expect(wanted: string): void {
    if (!this.take(wanted)) throw new Error(`Expected ${wanted}, found ${this.peek()}`);
  }

  next(): string {
    const token = this.tokens[this.place++];
    if (token === undefined) throw new Error('The expression ends too early.');
    return token;
  }

  /** The attribute names of a document path such as `#status` or `outcome.kind`. */
  path(): string[] {
    return this.next()
      .split('.')
      .map((part) => {
        if (!part.startsWith('#')) return part;
        const name = this.placeholders.names?.[part];
        if (name === undefined) throw new Error(`Name ${part} is not given.`);
        this.unused.delete(part);
        return name;
      });
  }

  operand(item: Item): unknown {
    if (this.take('if_not_exists')) {
      this.expect('(');
      const stored = valueAt(item, this.path());
      this.expect(',');
      const otherwise = this.operand(item);
      this.expect(')');
      return stored === undefined ? otherwise : stored;
    }
    if (!this.peek()?.startsWith(':')) return valueAt(item, this.path());
    const name = this.next();
    const value = this.placeholders.values?.[name];
    if (value === undefined) throw new Error(`Value ${name} is not given.`);
    this.unused.delete(name);
    return value;
  }
}

const valueAt = (item: Item, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (value as Item | undefined)?.[name], item);

const compare = (left: unknown, operator: string, right: unknown): boolean => {
  if (left === undefined || right === undefined || typeof left !== typeof right) return false;
  return COMPARISONS[operator]?.(left as number, right as number) ?? false;
};

const COMPARISONS: Record<string, (a: number, b: number) => boolean> = {
  '=': (a, b) => a === b,
  '<>': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

const anyOf = (reader: Reader, item: Item): boolean => {
  let result = allOf(reader, item);
  while (reader.take('OR')) result = allOf(reader, item) || result;
  return result;
};

const allOf = (reader: Reader, item: Item): boolean => {
  let result = one(reader, item);
  while (reader.take('AND')) result = one(reader, item) && result;
  return result;
};

/** The names of types, as `attribute_type` takes them. */
const TYPE_NAMES: Record<string, string> = { number: 'N', string: 'S', boolean: 'BOOL', object: 'M' };

const one = (reader: Reader, item: Item): boolean => {
  if (reader.take('(')) {
    reader.refuseRedundantGroup();
    const result = anyOf(reader, item);
    reader.expect(')');
    return result;
  }
  const call = reader.take(
    'attribute_exists',
    'attribute_not_exists',
    'attribute_type',
    'begins_with',
    'contains',
  );
  if (call) {
    reader.expect('(');
    const value = valueAt(item, reader.path());
    let result = (value !== undefined) === (call === 'attribute_exists');
    if (call === 'begins_with' || call === 'contains') {
      reader.expect(',');
      const part = String(reader.operand(item));
      const text = String(value ?? '');
      result = call === 'contains' ? text.includes(part) : text.startsWith(part);
    }
    if (call === 'attribute_type') {
      reader.expect(',');
      result = TYPE_NAMES[typeof value] === reader.operand(item);
    }
    reader.expect(')');
    return result;
  }
  const left = reader.operand(item);
  const operator = reader.next();
  if (operator === 'BETWEEN') {
    const low = reader.operand(item);
    reader.expect('AND');
    const high = reader.operand(item);
    return compare(left, '>=', low) && compare(left, '<=', high);
  }
  if (operator !== 'IN') return compare(left, operator, reader.operand(item));
  reader.expect('(');
  const choices = [reader.operand(item)];
  while (reader.take(',')) choices.push(reader.operand(item));
  reader.expect(')');
  return choices.includes(left);
};

const assignments = (reader: Reader, item: Item): Item => {
  const changed: Item = {};
  do {
    const path = reader.path();
    const [name = ''] = path;
    reader.expect('=');
    let value = reader.operand(item);
    const sign = reader.take('+', '-');
    if (sign) {
      const other = reader.operand(item);
      if (typeof value !== 'number' || typeof other !== 'number') throw new Error(`${name} is no number.`);
      value = sign === '+' ? value + other : value - other;
    }
    if (value === undefined) throw new Error(`${name} is set to an attribute that does not exist.`);
    changed[name] = path.length === 1 ? value : changedAt({ ...item, ...changed }, path, value);
  } while (reader.take(','));
  return changed;
};

/** The attribute of a path with another value in its map; without it for undefined. As in DynamoDB, the map must be there. */
const changedAt = (item: Item, [name = '', key = '', ...deeper]: readonly string[], value: unknown): Item => {
  const map = item[name];
  if (typeof map !== 'object' || map === null || deeper.length > 0)
    throw new Error(`The path ${name}.${key} is not valid for an update.`);
  const { [key]: _, ...others } = map as Item;
  return value === undefined ? others : { ...others, [key]: value };
};

const additions = (reader: Reader, item: Item): Item => {
  const changed: Item = {};
  do {
    const [name = ''] = reader.path();
    const value = item[name] ?? 0;
    if (typeof value !== 'number') throw new Error(`${name} is no number.`);
    changed[name] = value + Number(reader.operand(item));
  } while (reader.take(','));
  return changed;
};

/** The attributes a REMOVE clause names, and maps without the value that it names. */
const removals = (reader: Reader, item: Item): { names: string[]; changed: Item } => {
  const names: string[] = [];
  const changed: Item = {};
  do {
    const path = reader.path();
    const [name = ''] = path;
    if (path.length === 1) names.push(name);
    else changed[name] = changedAt({ ...item, ...changed }, path, undefined);
  } while (reader.take(','));
  return { names, changed };
};

const without = (item: Item, names: ReadonlySet<string>): Item =>
  names.size === 0 ? item : Object.fromEntries(Object.entries(item).filter(([name]) => !names.has(name)));

/** The item after an update, or undefined if the condition fails. An absent item is `{}`. */
export const evaluate = (
  item: Item,
  expressions: { condition?: string | undefined; update?: string | undefined },
  placeholders: Placeholders,
): Item | undefined => {
  const unused = new Set([
    ...Object.keys(placeholders.names ?? {}),
    ...Object.keys(placeholders.values ?? {}),
  ]);
  const condition = new Reader(expressions.condition, placeholders, unused);
  const holds = condition.peek() === undefined || anyOf(condition, item);
  if (condition.peek() !== undefined) throw new Error(`Not understood from ${condition.peek()} on.`);

  const update = new Reader(expressions.update, placeholders, unused);
  let changed: Item = {};
  const removed = new Set<string>();
  const clauses = new Set<string>();
  // If the condition fails, the update may use absent attributes.
  while (holds && update.peek() !== undefined) {
    const clause = update.next();
    if (clauses.has(clause)) throw new Error(`The clause ${clause} stands twice.`);
    clauses.add(clause);
    if (clause === 'SET') changed = { ...changed, ...assignments(update, item) };
    else if (clause === 'ADD') changed = { ...changed, ...additions(update, item) };
    else if (clause === 'REMOVE') {
      const { names, changed: maps } = removals(update, { ...item, ...changed });
      changed = { ...changed, ...maps };
      for (const name of names) removed.add(name);
    } else throw new Error(`Clause ${clause} is not understood.`);
  }
  if (holds && unused.size > 0) throw new Error(`Given but not used: ${[...unused].join(', ')}`);
  return holds ? without({ ...item, ...changed }, removed) : undefined;
};
