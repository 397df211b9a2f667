import type { ArrayExpression, Node, ObjectExpression, ObjectProperty } from '@babel/types';
import { type Edit, nodesIn, type Place, removeFromList, replace, textOf } from './source.ts';

/** The property of that name, in a state machine. */
const propertyOf = (object: Node | undefined, name: string): ObjectProperty | undefined =>
  object?.type === 'ObjectExpression'
    ? object.properties
        .filter((property) => property.type === 'ObjectProperty')
        .find(({ key }) => key.type === 'StringLiteral' && key.value === name)
    : undefined;

const listOf = (object: Node | undefined, name: string): ArrayExpression | undefined => {
  const value = propertyOf(object, name)?.value;
  return value?.type === 'ArrayExpression' ? value : undefined;
};

const objectsIn = (list: ArrayExpression | undefined): ObjectExpression[] =>
  (list?.elements ?? []).filter((element) => element?.type === 'ObjectExpression');

/** The entries of a state's `Retry` and `Catch`. */
const handlersOf = (state: Node): { list: ObjectProperty; entries: ObjectExpression[] }[] =>
  ['Retry', 'Catch'].flatMap((name) => {
    const list = propertyOf(state, name);
    return list ? [{ list, entries: objectsIn(listOf(state, name)) }] : [];
  });

/** A state retries or catches fewer errors, or all. */
export const handledErrors = ({ node, source }: Place): Edit[][] =>
  handlersOf(node).flatMap(({ list, entries }) =>
    entries.flatMap((entry) => {
      const errors = listOf(entry, 'ErrorEquals');
      const dropped = [removeFromList(source, entries.length === 1 ? list : entry)];
      if (!errors) return [dropped];
      const fewer =
        errors.elements.length < 2
          ? []
          : errors.elements.map((error) => (error ? [removeFromList(source, error)] : []));
      // "States.ALL" stands alone, and last.
      const isWidened = entry === entries.at(-1) && !textOf(source, errors).includes('States.ALL');
      return [dropped, ...fewer, ...(isWidened ? [[replace(errors, '["States.ALL"]')]] : [])];
    }),
  );

/** A state is attempted once, or nearly without end. */
export const retriedTimes = ({ node }: Place): Edit[][] => {
  const value = propertyOf(node, 'MaxAttempts')?.value;
  return value ? [[replace(value, '0')], [replace(value, '100000')]] : [];
};

/** A state has no time limit. */
export const stateTimeLimit = ({ node, source }: Place): Edit[][] => {
  const property = propertyOf(node, 'TimeoutSeconds') ?? propertyOf(node, 'HeartbeatSeconds');
  return property ? [[removeFromList(source, property)]] : [];
};

/** A choice has one option less. */
export const choice = ({ node, source }: Place): Edit[][] => {
  const choices = objectsIn(listOf(node, 'Choices'));
  if (choices.length < 2) return [];
  return choices.map((one) => [removeFromList(source, one)]);
};

/** A task is skipped: its predecessors lead to its successor. */
export const skippedTask = ({ node, ancestors, source }: Place): Edit[][] => {
  if (node.type !== 'ObjectProperty' || node.key.type !== 'StringLiteral') return [];
  const next = propertyOf(node.value, 'Next')?.value;
  const type = propertyOf(node.value, 'Type')?.value;
  const root = ancestors[0];
  if (!next || type?.type !== 'StringLiteral' || type.value !== 'Task' || !root) return [];
  const name = node.key.value;
  const edits = [...nodesIn(root)].flatMap((other) => {
    if (other.type !== 'ObjectProperty' || other.key.type !== 'StringLiteral') return [];
    const leads = ['Next', 'Default', 'StartAt'].includes(other.key.value);
    const isHere = other.value.type === 'StringLiteral' && other.value.value === name;
    return leads && isHere ? [replace(other.value, textOf(source, next))] : [];
  });
  return edits.length > 0 ? [edits] : [];
};
