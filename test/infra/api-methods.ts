import {
  ROUTES as CORE_ROUTES,
  OPENAI_ROUTES,
  OPENAI_VIDEO_ROUTES,
  OPENAI_VIDEOS,
} from '../../core/routes.ts';
import { EVERYTHING_CONFIGURED, propertiesOf, synthesizeService } from './service-template.ts';

/** Every route: method, path and function. */
export const ROUTES = [
  ...Object.entries({ ...CORE_ROUTES, ...OPENAI_ROUTES }),
  ...Object.values(OPENAI_VIDEO_ROUTES).map((route) => [OPENAI_VIDEOS, route] as const),
].map(([name, { method, path }]) => [method, path, `api/${name}`] as const);
/** The unknown paths that a function answers, in the shape of OpenAI's clients. */
export const UNKNOWN_TO_OPENAI = ['/openai', '/openai/v1', '/openai/v1/images', '/openai/{proxy+}'];
/** Paths below which there are routes, and that have none. */
export const between = [
  ...new Set(
    ROUTES.flatMap(([, path]) => {
      const parts = path.split('/').slice(1);
      return parts.map((_part, index) => `/${parts.slice(0, index).join('/')}`);
    }),
  ),
]
  .map((path) => (path === '/' ? '' : path))
  .filter((path) => !ROUTES.some((route) => route[1] === path) && !UNKNOWN_TO_OPENAI.includes(path));

/** The service with all its routes. */
export const service = await synthesizeService(EVERYTHING_CONFIGURED);
/** The path of a resource. */
export const pathOf = (reference: { Ref: string } | { 'Fn::GetAtt': [string, string] }): string => {
  if (!('Ref' in reference)) return '';
  const { PathPart, ParentId } = service.resources[reference.Ref]?.Properties ?? {};
  return `${pathOf(ParentId)}/${PathPart}`;
};

/** Every method of the API, with its path. */
export const methods = propertiesOf(service.resources, 'AWS::ApiGateway::Method').map((properties) => ({
  method: properties.HttpMethod,
  path: pathOf(properties.ResourceId),
  properties,
}));

/** The method of this name at a path. */
export const methodAt = (method: string, path: string) => {
  const found = methods.find((candidate) => candidate.method === method && candidate.path === path);
  if (!found) throw new Error(`There is no ${method} ${path}.`);
  return found;
};
