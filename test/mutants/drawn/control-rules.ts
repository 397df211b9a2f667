import type { IfStatement, Node, Statement } from '@babel/types';
import { type Edit, NOTHING, type Place, rangeOf, replace, textOf } from './source.ts';

const isJump = (statement: Statement | undefined): boolean =>
  statement !== undefined &&
  ['ReturnStatement', 'ThrowStatement', 'ContinueStatement', 'BreakStatement'].includes(statement.type);

/** Whether the branch leaves the function or loop. */
const leaves = ({ consequent }: IfStatement): boolean =>
  isJump(consequent.type === 'BlockStatement' ? consequent.body.at(-1) : consequent);

/** `if (wrong) return;` is gone. */
export const guard = ({ node }: Place): Edit[][] =>
  node.type === 'IfStatement' && !node.alternate && leaves(node) ? [[replace(node, NOTHING)]] : [];

/** A branch is never taken, or always. */
export const branch = ({ node, source }: Place): Edit[][] => {
  if (node.type === 'ConditionalExpression') {
    return [node.consequent, node.alternate].map((chosen) => [replace(node, `(${textOf(source, chosen)})`)]);
  }
  if (node.type !== 'IfStatement') return [];
  if (node.alternate) return ['true', 'false'].map((answer) => [replace(node.test, answer)]);
  return leaves(node) ? [] : [[replace(node, NOTHING)]];
};

/** One operand of `&&` or `||` is left out. */
export const operand = ({ node, source }: Place): Edit[][] =>
  node.type === 'LogicalExpression' && node.operator !== '??'
    ? [node.left, node.right].map((kept) => [replace(node, textOf(source, kept))])
    : [];

/** The operator between two operands, replaced. */
const operatorBetween = (source: string, left: Node, right: Node, from: string, to: string): Edit => {
  const start = source.indexOf(from, rangeOf(left).end);
  if (start < 0 || start >= rangeOf(right).start)
    throw new Error(`There is no ${from} between the operands.`);
  return { start, end: start + from.length, text: to };
};

const BOUNDARIES: Record<string, string> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };
const OPPOSITES: Record<string, string> = { '===': '!==', '!==': '===' };
const ARITHMETIC: Record<string, string> = { '+': '-', '-': '+', '*': '/', '/': '*' };
const ROUNDING: Record<string, string> = {
  min: 'max',
  max: 'min',
  ceil: 'floor',
  floor: 'ceil',
  round: 'floor',
};

const swapped = (operators: Record<string, string>, { node, source }: Place): Edit[][] => {
  if (node.type !== 'BinaryExpression') return [];
  const to = operators[node.operator];
  return to ? [[operatorBetween(source, node.left, node.right, node.operator, to)]] : [];
};

/** `<` and `<=` are mistaken for each other, as `>` and `>=` are. */
export const boundary = (place: Place): Edit[][] => swapped(BOUNDARIES, place);

/** A condition is turned into its opposite. */
export const opposite = (place: Place): Edit[][] => {
  const { node, source } = place;
  if (node.type === 'UnaryExpression' && node.operator === '!')
    return [[replace(node, textOf(source, node.argument))]];
  return swapped(OPPOSITES, place);
};

const isText = ({ type }: Node): boolean => type === 'StringLiteral' || type === 'TemplateLiteral';

/** A calculation goes the wrong way: `+` for `-`, `*` for `/`, the smaller for the larger, down for up. */
export const arithmetic = (place: Place): Edit[][] => {
  const { node } = place;
  if (node.type === 'BinaryExpression') {
    return isText(node.left) || isText(node.right) ? [] : swapped(ARITHMETIC, place);
  }
  if (node.type !== 'MemberExpression' || node.property.type !== 'Identifier') return [];
  const to = ROUNDING[node.property.name];
  const isMath = node.object.type === 'Identifier' && node.object.name === 'Math';
  return isMath && to ? [[replace(node.property, to)]] : [];
};
