import { isBuiltin } from 'node:module';
import type { Import } from './source-graph.ts';

/** The folders of `core/`, in order: a folder imports only from itself and from folders above. '' is `core/` itself. */
export const CORE_ORDER = [
  '',
  'table',
  'audit',
  'concurrency',
  'deliveries',
  'budgets',
  'accounts',
  'models',
  'requests',
  'end-users',
  'ledger',
  'provider-calls',
  'route-pauses',
  'executions',
  'guarded-http',
  'files',
  'uploads',
  'creation',
  'admission',
  'dispatch',
  'waiting',
  'storing',
  'ending',
  'webhooks',
  'deletion',
  'reconciler',
  'restore',
];

/** Pairs of folders of `core/` that import nothing from each other, whatever their order. */
const CORE_STRANGERS = [
  ['creation', 'webhooks'],
  ['executions', 'deletion'],
];

const coreFolderOf = (path: string): string | undefined => {
  const [top, folder, file] = path.split('/');
  if (top !== 'core') return undefined;
  return file === undefined ? '' : folder;
};

const arrow = ({ from, to }: Import): string => `${from} -> ${to}`;

/** The imports within `core/` against the order of its folders, or to a folder that the order lacks. */
export const againstOrder = (imports: readonly Import[]): string[] =>
  imports
    .filter(({ from, to }) => {
      const [folder, target] = [coreFolderOf(from), coreFolderOf(to)];
      if (folder === undefined || target === undefined || folder === target) return false;
      if (CORE_STRANGERS.some((pair) => pair.includes(folder) && pair.includes(target))) return true;
      return !CORE_ORDER.includes(target) || CORE_ORDER.indexOf(target) > CORE_ORDER.indexOf(folder);
    })
    .map(arrow);

/**
 * The circles among imports, of types too. A circle is a list of files that reach each other, in the order of
 * discovery.
 */
export const circlesOf = (imports: readonly Import[]): string[][] => {
  const targets = Map.groupBy(imports, ({ from }) => from);
  const reachedFrom = (start: string): Set<string> => {
    const seen = new Set<string>();
    const next = [start];
    for (let path = next.pop(); path !== undefined; path = next.pop()) {
      for (const { to } of targets.get(path) ?? []) {
        if (seen.has(to)) continue;
        seen.add(to);
        next.push(to);
      }
    }
    return seen;
  };
  const reached = new Map([...targets.keys()].map((path) => [path, reachedFrom(path)]));
  const inCircle = [...reached].filter(([path, seen]) => seen.has(path)).map(([path]) => path);
  const circles = Map.groupBy(inCircle, (path) =>
    inCircle.find((other) => reached.get(path)?.has(other) && reached.get(other)?.has(path)),
  );
  return [...circles.values()];
};

/**
 * Paths of the project that a layer may import: they begin with one of `may` and do not match `mayNot`. `typesOnly`
 * matches the paths it may import types from, but no values.
 */
interface Layer {
  may: readonly string[];
  mayNot?: RegExp;
  typesOnly?: RegExp;
}

/** The table's clients and keys: only `core/` reads and writes the table. */
const TABLE_ACCESS = /^core\/table\/(?!pages\.ts$)/;

/** The package that measures images and videos, and knows nothing of this service. */
const MEDIA = 'packages/media/src/';

/** Every layer by the beginning of its paths, with what it may import besides packages. */
const LAYERS: Record<string, Layer> = {
  'core/': { may: ['core/', MEDIA] },
  'providers/': {
    may: ['providers/', 'core/'],
    mayNot: TABLE_ACCESS,
    typesOnly: /^core\/(?!models\/|provider-calls\/|guarded-http\/)[^/]+\//,
  },
  'functions/': { may: ['functions/', 'core/', 'providers/'], mayNot: TABLE_ACCESS },
  'lib/': { may: ['lib/', 'core/', MEDIA], mayNot: /^core\/table\/(?!(pages|keys)\.ts$)/ },
  'bin/': { may: ['bin/', 'lib/'] },
  // It serves the console itself.
  'ops/': { may: ['ops/', 'core/', 'lib/bundle-console.ts', MEDIA], mayNot: TABLE_ACCESS },
  // It runs in a browser. It may load the rules shared with the service, the public client and the shape of the spans
  // that operators read.
  'console/': {
    may: [
      ...['console/', 'core/creation/', 'core/models/', 'core/provider-calls/input-limits.ts'],
      ...['packages/client/src/', 'ops/story-span.ts'],
    ],
    typesOnly: /^ops\//,
  },
  // A local run makes its first account by the operators' commands.
  'local/': { may: ['local/', 'packages/', 'ops/', 'core/provider-names.ts'] },
};

const isPath = (to: string): boolean => /\.tsx?$/.test(to) || to.includes('.json');

/** The imports of the project's files that their layer may not make. */
export const outOfLayer = (imports: readonly Import[]): string[] =>
  imports
    .filter(({ from, to, typeOnly }) => {
      const layer = Object.entries(LAYERS).find(([prefix]) => from.startsWith(prefix))?.[1];
      if (!layer || !isPath(to)) return false;
      if (!layer.may.some((prefix) => to.startsWith(prefix))) return true;
      return layer.mayNot?.test(to) === true || (!typeOnly && layer.typesOnly?.test(to) === true);
    })
    .map(arrow);

/** Modules that a pure module must not load: the environment, an SDK, an HTTP client, and built-ins for I/O. */
const IMPURE = [
  /^core\/environment\.ts$/,
  /^@aws(-sdk|-lambda-powertools)?\//,
  /^@smithy\//,
  /^undici$/,
  /^node:(fs|http|https|http2|tls|net|dgram|dns|child_process|worker_threads|process)(\/|$)/,
];
/** `isIP` of `node:net` only parses text. */
const PURE_NAMES = new Set(['node:net isIP']);

const isImpure = ({ to, names }: Import): boolean =>
  IMPURE.some((pattern) => pattern.test(to)) &&
  !(names.length > 0 && names.every((name) => PURE_NAMES.has(`${to} ${name}`)));

/** The built-in modules that a module and its dependencies import, each with the imported name. */
export const builtInsReachedBy = (root: string, imports: readonly Import[]): string[] => {
  const found = new Set<string>();
  const seen = new Set([root]);
  for (const path of seen) {
    for (const { from, to, typeOnly, names } of imports) {
      if (from !== path || typeOnly) continue;
      if (isBuiltin(to)) found.add([to, ...names].join(' '));
      else seen.add(to);
    }
  }
  return [...found];
};

/**
 * The chains of value imports, written with arrows, by which a module loads anything that a pure module must not
 * load.
 */
export const impureWays = (root: string, imports: readonly Import[]): string[] => {
  const loaded = Map.groupBy(
    imports.filter(({ typeOnly }) => !typeOnly),
    ({ from }) => from,
  );
  const ways: string[] = [];
  const seen = new Set<string>();
  const walk = (path: string, way: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const found of loaded.get(path) ?? []) {
      if (isImpure(found)) ways.push(`${way} -> ${found.to}`);
      else walk(found.to, `${way} -> ${found.to}`);
    }
  };
  walk(root, root);
  return ways;
};

const packageNameOf = (specifier: string): string =>
  specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

/**
 * Whether a path belongs to a declared package of this project: the package's entry, or for tests any file of the
 * package.
 */
const isOfDeclared = (from: string, to: string, dependencies: readonly string[]): boolean => {
  const [, name, rest] = /^packages\/([^/]+)\/(.+)$/.exec(to) ?? [];
  const isOpen = rest === 'src/index.ts' || /^packages\/[^/]+\/test\//.test(from);
  return isOpen && dependencies.includes(`@generation-service/${name}`);
};

/**
 * The imports of a package's files that leave its directory or name a package it does not depend on. Types may
 * come from an `@types` dependency.
 */
export const outOfPackage = (
  directory: string,
  imports: readonly Import[],
  dependencies: readonly string[],
): string[] =>
  imports
    .filter(({ from }) => from.startsWith(directory))
    .filter(({ from, to, typeOnly }) => {
      if (to.startsWith(directory) || isBuiltin(to)) return false;
      if (isPath(to)) return !isOfDeclared(from, to, dependencies);
      const name = packageNameOf(to);
      return !dependencies.includes(name) && !(typeOnly && dependencies.includes(`@types/${name}`));
    })
    .map(arrow);
