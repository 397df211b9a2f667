import { nodesIn, parseModule } from './source-graph.ts';

/** A function that `core/` exports and that reads or writes the table itself. */
export interface TableFunction {
  file: string;
  name: string;
  /** The number its doc comment begins with; undefined when there is none. */
  number: number | undefined;
}

/** The modules of `core/table/` with operations, and their names that stand for none. */
const OPERATION_MODULES = /\/table\/(table|outcomes)\.ts$/;
const NO_OPERATIONS = new Set([
  ...['setAll', 'projectionOf', 'StoredItem', 'UpdateParts'],
  ...['findOutcome', 'leavesOutcomeOpen'],
]);

interface Named {
  value: string;
}

/** The names a module imports that stand for table operations. */
const operationNames = (nodes: readonly unknown[]): Set<string> => {
  const names = new Set<string>();
  for (const node of nodes) {
    const { type, source, specifiers } = node as { type: string; source?: Named; specifiers?: unknown[] };
    if (type !== 'ImportDeclaration' || !source || !specifiers) continue;
    if (!OPERATION_MODULES.test(source.value)) continue;
    for (const specifier of specifiers) {
      const { local } = specifier as { local: Named };
      if (!NO_OPERATIONS.has(local.value)) names.add(local.value);
    }
  }
  return names;
};

/** The top-level constants of a module with the names each one mentions. */
const constantsOf = (
  nodes: readonly unknown[],
): Map<string, { isExported: boolean; mentions: Set<string> }> => {
  const constants = new Map<string, { isExported: boolean; mentions: Set<string> }>();
  for (const node of nodes) {
    const { type, declaration } = node as { type: string; declaration?: unknown };
    const isExported = type === 'ExportDeclaration';
    const { declarations = [] } = (isExported ? declaration : node) as { declarations?: unknown[] };
    for (const declared of declarations) {
      const { id, init } = declared as { id: Partial<Named>; init: unknown };
      if (id.value === undefined) continue;
      const identifiers = nodesIn(init).filter((inner) => inner.type === 'Identifier');
      constants.set(id.value, {
        isExported,
        mentions: new Set(identifiers.map(({ value }) => String(value))),
      });
    }
  }
  return constants;
};

const numberOf = (name: string, source: string): number | undefined => {
  const comment = new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\nexport const ${name}\\b`).exec(source)?.[1];
  const number = /^[\s*]*Access pattern (\d+): /.exec(comment ?? '')?.[1];
  return number === undefined ? undefined : Number(number);
};

/**
 * The exported functions of a module that operate on the table, in source order. They use the client, a batch, a
 * query or a listing, directly or through functions that the module does not export.
 */
export const tableFunctionsOf = (file: string, source: string): TableFunction[] => {
  const { body } = parseModule(source);
  const operations = operationNames(body);
  const constants = constantsOf(body);
  const operates = (name: string, seen: ReadonlySet<string> = new Set()): boolean =>
    [...(constants.get(name)?.mentions ?? [])].some((mentioned) => {
      if (operations.has(mentioned)) return true;
      if (seen.has(mentioned) || constants.get(mentioned)?.isExported !== false) return false;
      return operates(mentioned, new Set([...seen, mentioned]));
    });
  return [...constants]
    .filter(([name, { isExported }]) => isExported && operates(name))
    .map(([name]) => ({ file, name, number: numberOf(name, source) }));
};

/** A row of the table of access patterns. */
export interface DocumentedPattern {
  number: number;
  entity: string;
  functions: TableFunction[];
}

/** The rows of the table: `| 7 | Request | … | [`findRequest`, `findRequests`](../core/requests/requests.ts), … |`. */
export const documentedPatterns = (markdown: string): DocumentedPattern[] =>
  [...markdown.matchAll(/^\| (\d+) \| ([^|]+) \|.*\| ([^|]+) \|$/gm)].map(
    ([, digits, entity = '', links = '']) => {
      const number = Number(digits);
      const functions = [...links.matchAll(/\[([^\]]+)\]\(\.\.\/([^)]+)\)/g)].flatMap(
        ([, names = '', file = '']) =>
          [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => ({ file, name, number })),
      );
      return { number, entity, functions };
    },
  );
