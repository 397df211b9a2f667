import { parse, parseExpression } from '@babel/parser';
import { type File, type Node, type ObjectExpression, VISITOR_KEYS } from '@babel/types';

/** A text that takes the place of the source from `start` to `end`. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

/** A node of a source file, with what is around it. */
export interface Place {
  node: Node;
  /** From the file's root to the node's parent. */
  ancestors: readonly Node[];
  /** The text of the whole file. */
  source: string;
}

/** Where a node begins and ends. Every node of a parsed file has both. */
export const rangeOf = ({ start, end }: Node): { start: number; end: number } => {
  if (typeof start !== 'number' || typeof end !== 'number') throw new Error('A node has no position.');
  return { start, end };
};

/** The text of a node. */
export const textOf = (source: string, node: Node): string => {
  const { start, end } = rangeOf(node);
  return source.slice(start, end);
};

/** The edit that puts `text` in the place of a node. */
export const replace = (node: Node, text: string): Edit => ({ ...rangeOf(node), text });

/** Parses TypeScript, or a state machine: JSON is an expression. Throws a `SyntaxError` when it is not well formed. */
export const parseSource = (file: string, source: string): File | ObjectExpression =>
  file.endsWith('.json')
    ? (parseExpression(source) as ObjectExpression)
    : parse(source, { sourceType: 'module', plugins: ['typescript'] });

/** Types do nothing at run time, imports are not behaviour, and nobody promises what is logged. */
const isLeftOut = (node: Node): boolean =>
  node.type.startsWith('TSType') ||
  node.type.startsWith('TSInterface') ||
  node.type === 'ImportDeclaration' ||
  (node.type === 'CallExpression' &&
    node.callee.type === 'MemberExpression' &&
    node.callee.object.type === 'Identifier' &&
    node.callee.object.name === 'logger');

/** The nodes directly below a node. */
const childrenOf = (node: Node): Node[] =>
  (VISITOR_KEYS[node.type] ?? []).flatMap((key) => {
    const child = (node as unknown as Record<string, Node | (Node | null)[] | null | undefined>)[key];
    return (Array.isArray(child) ? child : [child]).filter((one) => one !== null && one !== undefined);
  });

/** Every node of a file that a rule may change, from the outside in. */
export function* placesOf(file: string, source: string): Generator<Place> {
  const walk = function* (node: Node, ancestors: readonly Node[]): Generator<Place> {
    if (isLeftOut(node)) return;
    yield { node, ancestors, source };
    for (const child of childrenOf(node)) yield* walk(child, [...ancestors, node]);
  };
  yield* walk(parseSource(file, source), []);
}

/** Every node within one, itself included. */
export function* nodesIn(node: Node): Generator<Node> {
  yield node;
  for (const child of childrenOf(node)) yield* nodesIn(child);
}

/** The edit that takes an element out of a list that is separated by commas, with one of the commas. */
export const removeFromList = (source: string, element: Node): Edit => {
  const { start, end } = rangeOf(element);
  const after = /^\s*,/.exec(source.slice(end));
  if (after) return { start, end: end + after[0].length, text: '' };
  const before = /,\s*$/.exec(source.slice(0, start));
  return { start: start - (before?.[0].length ?? 0), end, text: '' };
};

/** What a dropped statement leaves, also where exactly one statement must stand. */
export const NOTHING = '{}';

/** The source with the edits made. Edits within another one are dropped. */
export const withEdits = (source: string, edits: readonly Edit[]): string => {
  const outermost = edits.filter(
    (edit) =>
      !edits.some(
        (other) =>
          other !== edit &&
          other.start <= edit.start &&
          other.end >= edit.end &&
          other.end - other.start > edit.end - edit.start,
      ),
  );
  return outermost
    .toSorted((a, b) => b.start - a.start)
    .reduce(
      (text, { start, end, text: inserted }) => text.slice(0, start) + inserted + text.slice(end),
      source,
    );
};
