import { type Edit, type Place, removeFromList, replace, textOf } from './source.ts';

const isConstant = (name: string): boolean => /^[A-Z][A-Z0-9_]+$/.test(name);

/** A number of attempts becomes one, or very many. */
export const attempts = ({ node }: Place): Edit[][] => {
  if (node.type !== 'VariableDeclarator' || node.id.type !== 'Identifier') return [];
  const isNumber = node.init?.type === 'NumericLiteral';
  if (!isNumber || !/(ATTEMPTS|TRIES|GUESSES|ROUNDS)$/.test(node.id.name) || !node.init) return [];
  return [[replace(node.init, '1')], [replace(node.init, '1_000')]];
};

/** A list of constants, such as the errors that count as transient, is short of one. */
export const listed = ({ node, ancestors, source }: Place): Edit[][] => {
  if (node.type !== 'ArrayExpression' || node.elements.length < 2) return [];
  const declarator = ancestors.findLast(({ type }) => type === 'VariableDeclarator');
  const isListed =
    declarator?.type === 'VariableDeclarator' &&
    declarator.id.type === 'Identifier' &&
    isConstant(declarator.id.name) &&
    ancestors.indexOf(declarator) >= ancestors.length - 3;
  if (!isListed) return [];
  return node.elements
    .filter((element) => element?.type === 'StringLiteral' || element?.type === 'NumericLiteral')
    .map((element) => [removeFromList(source, element)]);
};

/** Every error passes for the one that is asked for: of a class, or in a list of constants. */
export const widened = ({ node, ancestors, source }: Place): Edit[][] => {
  if (node.type === 'BinaryExpression' && node.operator === 'instanceof') {
    // Nothing else is thrown.
    if (textOf(source, node.right) === 'Error') return [];
    const parent = ancestors.at(-1);
    const asked = parent?.type === 'UnaryExpression' ? parent : node;
    return [[replace(asked, asked === node ? 'true' : 'false')]];
  }
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return [];
  const isAsked = node.callee.property.type === 'Identifier' && node.callee.property.name === 'has';
  return isAsked && isConstant(textOf(source, node.callee.object)) ? [[replace(node, 'true')]] : [];
};
