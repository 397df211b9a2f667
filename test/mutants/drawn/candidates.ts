import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Node } from '@babel/types';
import type { Planting } from '../mutant.ts';
import { type RuleName, rulesFor } from './rules.ts';
import { type Edit, NOTHING, type Place, parseSource, placesOf, rangeOf, withEdits } from './source.ts';

/** A bug that a rule makes of the code. */
export interface Candidate extends Planting {
  rule: RuleName;
  /** The line of the first edit, from 1. */
  line: number;
  /** Of the text of its file: findings hold for it alone. */
  hash: string;
  /** Whether the bug changes its file, and the changed file can be parsed. */
  isWellFormed(): boolean;
}

/** A source file by its path in the project. */
export interface Source {
  file: string;
  text: string;
}

/** What runs for callers. The API's description is written when it is built. */
const SOURCES = ['core/**/*.ts', 'functions/**/*.ts', 'providers/**/*.ts', 'statemachines/*.asl.json'];
const LEFT_OUT = /^functions\/openapi\//;

/** The files to make bugs in: at or below the given paths, or every file without paths. */
export const readSources = (root: string, paths: readonly string[]): Source[] => {
  const files = globSync(SOURCES, { cwd: root }).filter((file) => !LEFT_OUT.test(file));
  const isChosen = (file: string): boolean =>
    paths.length === 0 ||
    paths.some((path) => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`));
  return files
    .filter(isChosen)
    .toSorted()
    .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));
};

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);

/** The name of the outermost declaration or state that a place is in. */
const declarationAround = ({ node, ancestors }: Place): string => {
  const names = [...ancestors, node].flatMap((one) => nameOf(one) ?? []);
  return names[0] ?? '';
};

const nameOf = (node: Node): string | undefined => {
  if (
    node.type === 'VariableDeclarator' ||
    node.type === 'FunctionDeclaration' ||
    node.type === 'ClassDeclaration'
  )
    return node.id?.type === 'Identifier' ? node.id.name : undefined;
  const isState =
    node.type === 'ObjectProperty' &&
    node.value.type === 'ObjectExpression' &&
    node.value.properties.some(
      (property) =>
        property.type === 'ObjectProperty' &&
        property.key.type === 'StringLiteral' &&
        property.key.value === 'Type',
    );
  return isState && node.key.type === 'StringLiteral' ? node.key.value : undefined;
};

const LONGEST_TEXT = 100;
const CONTEXT = 40;
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
const shortened = (text: string): string =>
  text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;

/** Two texts around what differs, each in one line. */
const shownChange = (before: string, after: string): string => {
  const [from, to] = [oneLine(before), oneLine(after)];
  let prefix = 0;
  while (prefix < Math.min(from.length, to.length) && from[prefix] === to[prefix]) prefix++;
  const start = Math.max(0, prefix - CONTEXT);
  const shown = (text: string): string => shortened((start > 0 ? '…' : '') + text.slice(start));
  return to === NOTHING || to === '' ? `no ${shortened(from)}` : `${shown(from)} => ${shown(to)}`;
};

/** The change that an edit makes to its node, or to the edited text if that lies outside the node. */
const changeOf = ({ node, source }: Place, edit: Edit): string => {
  const range = rangeOf(node);
  const isRemoved = edit.text === '' && node.type !== 'StringLiteral' && node.type !== 'TemplateLiteral';
  if (isRemoved) return shownChange(source.slice(edit.start, edit.end).replace(/^[\s,]+|[\s,]+$/g, ''), '');
  const isElsewhere = edit.end < range.start || edit.start > range.end;
  const start = isElsewhere ? edit.start : Math.min(range.start, edit.start);
  const end = isElsewhere ? edit.end : Math.max(range.end, edit.end);
  const after = source.slice(start, edit.start) + edit.text + source.slice(edit.end, end);
  return shownChange(source.slice(start, end), after);
};

const canBeParsed = (file: string, text: string): boolean => {
  try {
    parseSource(file, text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
};

/**
 * Every bug that the rules make of a file. Their names are unique and hold while the code around stays: a second
 * change that looks the same in a declaration has its number at the end.
 */
export const candidatesOf = ({ file, text }: Source): Candidate[] => {
  const found = new Map<string, Candidate>();
  const hash = hashOf(text);
  const rules = rulesFor(file);
  for (const place of placesOf(file, text)) {
    for (const [rule, find] of rules) {
      for (const edits of find(place)) {
        const [first] = edits;
        if (!first) continue;
        const plantedIn = (): string => withEdits(text, edits);
        const name = `${rule} in ${file} ${declarationAround(place)}: ${changeOf(place, first)}`;
        const line = text.slice(0, first.start).split('\n').length;
        let unique = name;
        for (let number = 2; found.has(unique); number++) unique = `${name} #${number}`;
        const isWellFormed = (): boolean => plantedIn() !== text && canBeParsed(file, plantedIn());
        found.set(unique, { name: unique, file, rule, line, hash, plantedIn, isWellFormed });
      }
    }
  }
  return [...found.values()];
};

/** A number between 0 and 1 that a seed gives a candidate, whatever the other candidates are. */
const chanceOf = (seed: string, name: string): number => {
  const digits = createHash('sha256').update(`${seed} ${name}`).digest('hex').slice(0, 12);
  return (Number.parseInt(digits, 16) + 1) / 2 ** 48;
};

/**
 * Draws candidates at random by the seed, each of which can be parsed. More of them begin with the same ones. The share of a rule grows with the square root of
 * its candidates: a third of all are reversed conditions and forced branches.
 */
export const draw = (candidates: readonly Candidate[], count: number, seed: string): Candidate[] => {
  const numbers = Map.groupBy(candidates, ({ rule }) => rule);
  const rankOf = ({ name, rule }: Candidate): number =>
    -Math.log(chanceOf(seed, name)) * Math.sqrt(numbers.get(rule)?.length ?? 1);
  return candidates
    .map((candidate) => ({ candidate, rank: rankOf(candidate) }))
    .toSorted((a, b) => a.rank - b.rank)
    .values()
    .map(({ candidate }) => candidate)
    .filter((candidate) => candidate.isWellFormed())
    .take(count)
    .toArray();
};
