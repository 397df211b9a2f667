import type { Node, Statement } from '@babel/types';
import {
  type Edit,
  NOTHING,
  nodesIn,
  type Place,
  rangeOf,
  removeFromList,
  replace,
  textOf,
} from './source.ts';

const isFunction = ({ type }: Node): boolean =>
  type === 'ArrowFunctionExpression' || type === 'FunctionExpression' || type === 'FunctionDeclaration';

/** Whether the node waits for something itself, not in a function that it makes. */
const awaits = (node: Node): boolean => {
  if (isFunction(node)) return false;
  if (node.type === 'AwaitExpression') return true;
  if (node.type === 'ExpressionStatement') return awaits(node.expression);
  if (node.type === 'VariableDeclaration') return node.declarations.some(({ init }) => init && awaits(init));
  if (node.type === 'IfStatement') return !node.alternate && awaits(node.consequent);
  if (node.type === 'BlockStatement') return node.body.some(awaits);
  return false;
};

/** An awaited call whose result nobody uses: it is made for its effect, and is left out. */
export const droppedCall = ({ node }: Place): Edit[][] =>
  node.type === 'ExpressionStatement' && node.expression.type === 'AwaitExpression'
    ? [[replace(node, NOTHING)]]
    : [];

/** A statement that changes what the process holds, such as a counter or a map, is left out. */
export const droppedStep = ({ node, source }: Place): Edit[][] => {
  if (node.type !== 'ExpressionStatement') return [];
  const { expression } = node;
  if (expression.type === 'CallExpression' && /^(logger|countMetric)\b/.test(textOf(source, expression)))
    return [];
  const isStep = ['CallExpression', 'AssignmentExpression', 'UpdateExpression'].includes(expression.type);
  return isStep ? [[replace(node, NOTHING)]] : [];
};

/** Matches list elements that are writes: items of a transaction, or calls that make one. */
const WRITE = /\b\w*(Writes?|Check)\(|\b(Put|Update|Delete|ConditionCheck): /;

/** A write of a transaction is left out. */
export const droppedWrite = ({ node, source }: Place): Edit[][] =>
  node.type === 'ArrayExpression'
    ? node.elements
        .filter((element) => element !== null)
        .filter((element) => WRITE.test(textOf(source, element)))
        .map((element) => [removeFromList(source, element)])
    : [];

/** The names that a statement declares. */
const declaredBy = (statement: Statement): string[] =>
  statement.type === 'VariableDeclaration'
    ? statement.declarations.flatMap(({ id }) =>
        [...nodesIn(id)].flatMap((node) => (node.type === 'Identifier' ? [node.name] : [])),
      )
    : [];

const uses = (statement: Statement, names: readonly string[]): boolean =>
  [...nodesIn(statement)].some((node) => node.type === 'Identifier' && names.includes(node.name));

/** Two neighbouring statements that wait for an effect change places. The second does not need the first. */
export const reordered = ({ node, source }: Place): Edit[][] => {
  if (node.type !== 'BlockStatement') return [];
  return node.body.flatMap((first, index) => {
    const second = node.body[index + 1];
    if (!second || !awaits(first) || !awaits(second) || uses(second, declaredBy(first))) return [];
    const [from, to] = [rangeOf(first), rangeOf(second)];
    const between = source.slice(from.end, to.start);
    return [
      [{ start: from.start, end: to.end, text: textOf(source, second) + between + textOf(source, first) }],
    ];
  });
};

/** A call is not awaited, or a promise is returned from within a `try` without awaiting it. */
export const droppedAwait = ({ node, ancestors, source }: Place): Edit[][] => {
  if (node.type !== 'AwaitExpression') return [];
  const parent = ancestors.at(-1)?.type;
  const isAlone = parent === 'ExpressionStatement' || parent === 'ReturnStatement';
  return isAlone ? [[replace(node, textOf(source, node.argument))]] : [];
};

/** One failure ends what was to be brought to its end, or is not noticed. */
export const settled = ({ node, ancestors, source }: Place): Edit[][] => {
  if (node.type !== 'MemberExpression' || node.property.type !== 'Identifier') return [];
  if (textOf(source, node.object) !== 'Promise') return [];
  const { name } = node.property;
  if (name === 'allSettled') return [[replace(node.property, 'all')]];
  const isForEffect = ancestors.at(-3)?.type === 'ExpressionStatement';
  return name === 'all' && isForEffect ? [[replace(node.property, 'allSettled')]] : [];
};

/** An error is not handled, or one that was to pass is. */
export const caught = ({ node, ancestors, source }: Place): Edit[][] => {
  if (node.type === 'CatchClause') {
    const name = node.param?.type === 'Identifier' ? node.param.name : 'thrown';
    return [[replace(node, `catch (${name}) { throw ${name}; }`)]];
  }
  if (node.type !== 'ThrowStatement' || node.argument?.type !== 'Identifier') return [];
  const handler = ancestors.findLast(({ type }) => type === 'CatchClause');
  const isRethrown =
    handler?.type === 'CatchClause' &&
    handler.param?.type === 'Identifier' &&
    handler.param.name === textOf(source, node.argument) &&
    handler.body === ancestors.at(-1);
  return isRethrown ? [[replace(node, NOTHING)]] : [];
};

/** What was to be done however a call ends is not done. */
export const finallyDropped = ({ node }: Place): Edit[][] =>
  node.type === 'TryStatement' && node.finalizer ? [[replace(node.finalizer, NOTHING)]] : [];

const OPTIONS =
  /^(ConsistentRead|ReturnValuesOnConditionCheckFailure|ClientRequestToken|IfNoneMatch|IfMatch|Limit|ScanIndexForward|abortSignal|signal|timeoutMs|leaseSeconds)$/;

/** A call is made without an option that its promise rests on, such as a consistent read. */
export const option = ({ node, source }: Place): Edit[][] =>
  node.type === 'ObjectProperty' && node.key.type === 'Identifier' && OPTIONS.test(node.key.name)
    ? [[removeFromList(source, node)]]
    : [];
