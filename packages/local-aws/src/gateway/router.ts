import type { RouteSpec } from '../template/api.ts';

/** The route of a request. */
export interface RouteMatch {
  route: RouteSpec;
  /** Values by parameter name (without the `+` of a greedy one), not decoded: a REST API does not decode its path. */
  pathParameters: Record<string, string>;
}

/** Finds the route of a request; undefined when there is none. */
export type FindRoute = (method: string, path: string) => RouteMatch | undefined;

type Segment = { kind: 'static' | 'parameter' | 'greedy'; name: string };

const SPECIFICITY = { static: 0, parameter: 1, greedy: 2 };

const segmentsOf = (resourcePath: string): Segment[] =>
  resourcePath
    .split('/')
    .filter((part) => part !== '')
    .map((part) => {
      const name = /^\{(.+?)(\+?)\}$/.exec(part);
      if (!name) return { kind: 'static', name: part };
      return { kind: name[2] ? 'greedy' : 'parameter', name: name[1] ?? '' };
    });

/** At the first segment that differs: static before parameter before greedy; else the shorter one. The same either way round. */
const bySpecificity = (left: Segment[], right: Segment[]): number => {
  for (const [index, segment] of left.entries()) {
    const other = right[index];
    if (!other) return 1;
    const difference = SPECIFICITY[segment.kind] - SPECIFICITY[other.kind];
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
};

const match = (segments: Segment[], parts: string[]): Record<string, string> | undefined => {
  const parameters: Record<string, string> = {};
  for (const [index, { kind, name }] of segments.entries()) {
    const part = parts[index];
    if (part === undefined || part === '') return undefined;
    if (kind === 'greedy') {
      parameters[name] = parts.slice(index).join('/');
      return parameters;
    }
    if (kind === 'parameter') parameters[name] = part;
    else if (part !== name) return undefined;
  }
  return parts.length === segments.length ? parameters : undefined;
};

/**
 * Routes calls as API Gateway does. The most specific resource wins, and in the resource the call's method before
 * `ANY`. Additional leading slashes and one trailing slash are ignored. A resource of `resourcePaths` without methods
 * wins too, and has no route.
 */
export const createRouter = (routes: RouteSpec[], resourcePaths: string[] = []): FindRoute => {
  const withoutMethods = resourcePaths.map((path) => [path, []] as [string, RouteSpec[]]);
  const resources = [
    ...new Map([...withoutMethods, ...Map.groupBy(routes, ({ resourcePath }) => resourcePath)]),
  ]
    .map(([resourcePath, methods]) => ({ segments: segmentsOf(resourcePath), methods }))
    .sort((left, right) => bySpecificity(left.segments, right.segments));

  return (method, path) => {
    const trimmed = path.replace(/^\/+/, '').replace(/\/$/, '');
    const parts = trimmed === '' ? [] : trimmed.split('/');
    for (const { segments, methods } of resources) {
      const pathParameters = match(segments, parts);
      if (!pathParameters) continue;
      const route =
        methods.find((candidate) => candidate.method === method) ??
        methods.find((candidate) => candidate.method === 'ANY');
      return route && { route, pathParameters };
    }
    return undefined;
  };
};
