import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Module, parseSync } from '@swc/core';

/** The project's own directory. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** One import of a module. Paths are relative to the project, without `./`. */
export interface Import {
  from: string;
  /** A path, or the specifier of a package or built-in. */
  to: string;
  /** Whether the import disappears when types are stripped. */
  typeOnly: boolean;
  /** The names a static import lists; empty when it takes everything. */
  names: readonly string[];
}

/** The TypeScript files below some directories, by path, those with markup too. */
export const readSources = (...directories: string[]): Map<string, string> =>
  new Map(
    directories
      .flatMap((directory) => globSync(`${directory}/**/*.{ts,tsx}`, { cwd: ROOT }))
      .filter((path) => !path.includes('node_modules'))
      .sort()
      .map((path) => [path, readFileSync(posix.join(ROOT, path), 'utf8')]),
  );

export const parseModule = (source: string, path = ''): Module =>
  parseSync(source, { syntax: 'typescript', tsx: path.endsWith('.tsx'), target: 'es2024' });

type SyntaxNode = Record<string, unknown> & { type: string };

/** Every node below a syntax tree's node, itself included, that has a type. */
export const nodesIn = (node: unknown): SyntaxNode[] => {
  const found: SyntaxNode[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('type' in value && typeof value.type === 'string') found.push(value as SyntaxNode);
    for (const [name, child] of Object.entries(value)) if (name !== 'span') visit(child);
  };
  visit(node);
  return found;
};

const specifierOf = (node: unknown): string | undefined => {
  const isLiteral = typeof node === 'object' && node !== null && 'type' in node && 'value' in node;
  return isLiteral && node.type === 'StringLiteral' ? String(node.value) : undefined;
};

const namesOf = (specifiers: unknown): string[] =>
  nodesIn(specifiers).flatMap((node) => {
    if (node.type !== 'ImportSpecifier') return [];
    const { local, imported } = node as unknown as { local: { value: string }; imported?: { value: string } };
    return [(imported ?? local).value];
  });

/** What one node of a module imports: statically, by `import()`, by `require`, or as a type. */
const importIn = (
  node: Record<string, unknown> & { type: string },
): { specifier: string | undefined; typeOnly: boolean } | undefined => {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
      return { specifier: specifierOf(node.source), typeOnly: node.typeOnly === true };
    case 'TsImportType':
      return { specifier: specifierOf(node.argument), typeOnly: true };
    case 'CallExpression': {
      const { callee, arguments: given } = node as unknown as {
        callee: { type: string; value?: string };
        arguments: { expression: unknown }[];
      };
      const loads = callee.type === 'Import' || (callee.type === 'Identifier' && callee.value === 'require');
      return loads ? { specifier: specifierOf(given[0]?.expression), typeOnly: false } : undefined;
    }
    default:
      return undefined;
  }
};

/** A package of this project, and what of it: `@generation-service/media/file-types` is `packages/media/src/file-types.ts`. */
const OWN_PACKAGE = /^@generation-service\/([^/]+)(?:\/(.+))?$/;

/** The path that a specifier names in the module at `from`; the specifier itself for another's package and for built-ins. */
const pathOf = (specifier: string, from: string): string => {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(from), specifier);
  const [, name, part = 'index'] = OWN_PACKAGE.exec(specifier) ?? [];
  return name === undefined ? specifier : `packages/${name}/src/${part}.ts`;
};

/** The imports of a module at a path. `import { type A }` counts as a value: it still loads the module. */
export const importsOf = (path: string, source: string): Import[] =>
  nodesIn(parseModule(source, path).body).flatMap((node) => {
    const found = importIn(node);
    if (found?.specifier === undefined) return [];
    const { specifier, typeOnly } = found;
    const names = namesOf(node.specifiers);
    return [{ from: path, to: pathOf(specifier, path), typeOnly, names }];
  });

/** The imports of all modules. */
export const readImports = (sources: ReadonlyMap<string, string>): Import[] =>
  [...sources].flatMap(([path, source]) => importsOf(path, source));
