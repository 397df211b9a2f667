import type { Node, ObjectProperty } from '@babel/types';
import { type Edit, nodesIn, type Place, rangeOf, removeFromList, textOf } from './source.ts';

interface Range {
  start: number;
  end: number;
}

const EXPRESSION =
  /\b(AND|OR|BETWEEN|IN|attribute_(not_)?exists|begins_with)\b|[=<>]\s*:|^(SET|ADD|REMOVE|DELETE) /;
const UPDATE = /^(SET|ADD|REMOVE|DELETE) /;

/** Where the text of a literal of DynamoDB's expressions is, without its quotes; undefined for any other node. */
const expressionIn = ({ node, source }: Place): Range | undefined => {
  if (node.type !== 'StringLiteral' && node.type !== 'TemplateLiteral') return undefined;
  const { start, end } = rangeOf(node);
  const inner = { start: start + 1, end: end - 1 };
  return EXPRESSION.test(source.slice(inner.start, inner.end)) ? inner : undefined;
};

/** How deep each character is in parentheses and in `${}`. */
const depthsOf = (text: string): number[] => {
  let depth = 0;
  return text.split('').map((character) => {
    if ('([{'.includes(character)) return depth++;
    return ')]}'.includes(character) ? --depth : depth;
  });
};

/** The parts of a range between separators that are in no parentheses, each with where it begins and ends. */
const partsOf = (source: string, { start, end }: Range, separator: RegExp): Range[] => {
  const text = source.slice(start, end);
  const depths = depthsOf(text);
  const found = [...text.matchAll(separator)].filter(({ index }) => depths[index] === 0);
  const starts = [0, ...found.map(({ 0: whole, index }) => index + whole.length)];
  const ends = [...found.map(({ index }) => index), text.length];
  return starts.map((from, index) => ({ start: start + from, end: start + (ends[index] ?? from) }));
};

/** The ranges in parentheses that are no arguments and in no `${}`. */
const groupsIn = (source: string, { start, end }: Range): Range[] => {
  const text = source.slice(start, end);
  const depths = depthsOf(text);
  return text.split('').flatMap((character, index) => {
    if (character !== '(' || depths[index] !== 0 || /[\w$]/.test(text[index - 1] ?? ' ')) return [];
    const close = depths.findIndex((depth, other) => other > index && depth === 0 && text[other] === ')');
    return [{ start: start + index + 1, end: start + close }];
  });
};

/** A part without a placeholder's value that the code puts behind it: `a = :a${more}` is `a = :a`. */
const withoutSuffix = (source: string, { start, end }: Range): Range => {
  const suffix = source.slice(start, end).indexOf('${');
  return { start, end: suffix > 0 ? start + suffix : end };
};

/** The edits that take each part out of a list of several, with a separator. */
const eachRemoved = (source: string, parts: readonly Range[]): Range[] =>
  parts.length < 2
    ? []
    : parts.flatMap((part, index) => {
        if (source.slice(part.start, part.end).trim() === '') return [];
        const before = parts[index - 1];
        if (before) return [{ start: before.end, end: withoutSuffix(source, part).end }];
        return [{ start: part.start, end: parts[index + 1]?.start ?? part.end }];
      });

const AND = /(?<!BETWEEN \S+) AND /g;
const OR = / OR /g;

const clausesIn = (source: string, range: Range): Range[] => [
  ...eachRemoved(source, partsOf(source, range, AND)),
  ...eachRemoved(source, partsOf(source, range, OR)),
  ...groupsIn(source, range).flatMap((group) => clausesIn(source, group)),
];

const isDefinition = (node: Node, placeholder: string): node is ObjectProperty =>
  node.type === 'ObjectProperty' && node.key.type === 'StringLiteral' && node.key.value === placeholder;

/**
 * The definitions of placeholders that nothing needs once a range is gone. DynamoDB refuses a placeholder that no expression
 * uses, and any test would notice that.
 */
const unneeded = (source: string, removed: Range, ancestors: readonly Node[]): Edit[] => {
  const names = new Set(source.slice(removed.start, removed.end).match(/[:#][A-Za-z_]\w*/g) ?? []);
  return [...names].flatMap((name) => {
    const scope = ancestors.findLast((node) => [...nodesIn(node)].some((inner) => isDefinition(inner, name)));
    if (!scope) return [];
    const definitions = [...nodesIn(scope)].filter((inner) => isDefinition(inner, name));
    const { start, end } = rangeOf(scope);
    const rest = source.slice(start, Math.max(start, removed.start)) + source.slice(removed.end, end);
    const mentions = rest.match(new RegExp(`${name}(?!\\w)`, 'g'))?.length ?? 0;
    if (mentions > definitions.length) return [];
    return definitions.map((definition) => {
      const holder = [...nodesIn(scope)].find(
        (inner) =>
          inner.type === 'ObjectProperty' &&
          inner.value.type === 'ObjectExpression' &&
          inner.value.properties.length === 1 &&
          inner.value.properties[0] === definition,
      );
      // An empty object of names or values is refused too.
      return removeFromList(source, holder ?? definition);
    });
  });
};

const removal = (source: string, removed: Range, ancestors: readonly Node[]): Edit[] => [
  { ...removed, text: '' },
  ...unneeded(source, removed, ancestors),
];

/** A condition or filter of DynamoDB has one clause less. */
export const clause = (place: Place): Edit[][] => {
  const range = expressionIn(place);
  if (!range || UPDATE.test(place.source.slice(range.start, range.end))) return [];
  // DynamoDB refuses a query without its partition.
  const isPartition = ({ start, end }: Range): boolean =>
    /^(PK|#partition) = /.test(place.source.slice(start, end));
  const clauses = clausesIn(place.source, range).filter((part) => !isPartition(part));
  return clauses.map((part) => removal(place.source, part, place.ancestors));
};

/** A write has no condition. */
export const condition = ({ node, ancestors, source }: Place): Edit[][] => {
  if (node.type !== 'ObjectProperty' || node.key.type !== 'Identifier') return [];
  if (node.key.name !== 'ConditionExpression') return [];
  const removed = removeFromList(source, node);
  return [removal(source, removed, ancestors)];
};

const SECTION = /(?:^| )(?:SET|ADD|REMOVE|DELETE) /g;

/** An update writes one attribute less. */
export const updatePart = (place: Place): Edit[][] => {
  const { source, ancestors } = place;
  const range = expressionIn(place);
  if (!range || !UPDATE.test(source.slice(range.start, range.end))) return [];
  const [, ...sections] = partsOf(source, range, SECTION);
  return sections.flatMap((section, index) => {
    const attributes = partsOf(source, section, /, /g);
    if (attributes.length > 1)
      return eachRemoved(source, attributes).map((part) => removal(source, part, ancestors));
    const whole = { start: sections[index - 1]?.end ?? range.start, end: section.end };
    return sections.length > 1 ? [removal(source, whole, ancestors)] : [];
  });
};

const COMPARED: Record<string, string> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>', '=': '<>', '<>': '=' };

/** A condition of DynamoDB compares wrongly. */
export const compared = (place: Place): Edit[][] => {
  const { source, ancestors } = place;
  const range = expressionIn(place);
  if (!range) return [];
  const text = source.slice(range.start, range.end);
  const isOther = ancestors.some(
    (node) =>
      node.type === 'ObjectProperty' &&
      /^(KeyConditionExpression|UpdateExpression)$/.test(textOf(source, node.key)),
  );
  if (isOther || UPDATE.test(text)) return [];
  return [...text.matchAll(/(?<= )(<=|>=|<>|<|>|=)(?= [:\w#])/g)].flatMap(({ 0: operator, index }) => {
    const isCode = text.lastIndexOf('${', index) > text.lastIndexOf('}', index);
    const to = COMPARED[operator];
    if (isCode || !to) return [];
    const start = range.start + index;
    return [[{ start, end: start + operator.length, text: to }]];
  });
};
