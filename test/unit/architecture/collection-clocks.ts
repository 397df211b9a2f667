import { parseModule } from './source-graph.ts';

type Node = Record<string, unknown> & { type: string };

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

/** The nodes right below a node, in their order. */
const childrenOf = (node: object): Node[] =>
  Object.values(node).flatMap((value) =>
    isNode(value) ? [value] : typeof value === 'object' && value !== null ? childrenOf(value) : [],
  );

const FUNCTIONS =
  /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression|ClassMethod|MethodProperty)$/;
/** Functions of jest whose callbacks run, or whose calls are made, while tests are collected. */
const COLLECTING = /^(describe|test|it)$/;

/** The name at the left of `a.b.c()`, `a()()` or a tagged template. */
const nameCalled = (node: unknown): string | undefined => {
  if (!isNode(node)) return undefined;
  if (node.type === 'Identifier') return String(node.value);
  return nameCalled(node.object ?? node.callee ?? node.tag);
};

const readsClock = ({ type, callee, arguments: given }: Node): boolean => {
  if (!isNode(callee)) return false;
  if (type === 'NewExpression') return callee.value === 'Date' && ((given as unknown[]) ?? []).length === 0;
  const { object, property } = callee;
  return type === 'CallExpression' && isNode(object) && isNode(property)
    ? object.value === 'Date' && property.value === 'now'
    : false;
};

const isFunction = ({ type }: Node): boolean => FUNCTIONS.test(type);

/** Everything that runs when a node is evaluated: the bodies of functions do not. */
const evaluated = (node: Node): Node[] =>
  isFunction(node) ? [node] : [node, ...childrenOf(node).flatMap(evaluated)];

const bodyOf = (node: Node): Node[] => childrenOf(node).flatMap(evaluated);

/** Whether a function declares tests: its body runs while tests are collected. */
const declaresTests = (node: Node): boolean =>
  bodyOf(node).some(
    ({ type, callee }) => type === 'CallExpression' && COLLECTING.test(nameCalled(callee) ?? ''),
  );

/** The names of functions of a module that read the clock. */
const clockFunctions = (nodes: readonly Node[]): Set<string> =>
  new Set(
    nodes.flatMap(({ type, id, init }) => {
      const isRead =
        type === 'VariableDeclarator' && isNode(init) && isFunction(init) && bodyOf(init).some(readsClock);
      return isRead && isNode(id) ? [String(id.value)] : [];
    }),
  );

const allIn = (node: Node): Node[] => [node, ...childrenOf(node).flatMap(allIn)];

/**
 * The number of clock reads of a test module, directly or by a function of the module, during the collection of
 * tests, long before a test runs.
 */
export const clockReadsAtCollection = (source: string): number => {
  const module = parseModule(source) as unknown as Node;
  const all = allIn(module);
  const readers = clockFunctions(all);
  const collected = [
    ...evaluated(module),
    ...all.filter((node) => isFunction(node) && declaresTests(node)).flatMap(bodyOf),
  ];
  return new Set(
    collected.filter(
      (node) =>
        readsClock(node) || (node.type === 'CallExpression' && readers.has(nameCalled(node.callee) ?? '')),
    ),
  ).size;
};
