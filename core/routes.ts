/** A route of the HTTP API. `path` has parameters in braces, as in API Gateway. */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
}

/**
 * Every route by the name of its endpoint, which is also the stem of its function: `functions/api/<name>.ts`.
 */
export const ROUTES = {
  'create-generation': { method: 'POST', path: '/v1/generations' },
  'list-generations': { method: 'GET', path: '/v1/generations' },
  'get-generation': { method: 'GET', path: '/v1/generations/{requestId}' },
  'create-video': { method: 'POST', path: '/v1/videos' },
  'list-videos': { method: 'GET', path: '/v1/videos' },
  'get-video': { method: 'GET', path: '/v1/videos/{requestId}' },
  'create-quote': { method: 'POST', path: '/v1/quotes' },
  'delete-generation': { method: 'DELETE', path: '/v1/generations/{requestId}' },
  'bulk-delete-generations': { method: 'POST', path: '/v1/generations/bulk-delete' },
  'list-models': { method: 'GET', path: '/v1/models' },
  'list-end-users': { method: 'GET', path: '/v1/end-users' },
  'delete-end-user': { method: 'DELETE', path: '/v1/end-users/{email}' },
  'block-end-user': { method: 'POST', path: '/v1/end-users/{email}/block' },
  'unblock-end-user': { method: 'POST', path: '/v1/end-users/{email}/unblock' },
  'get-end-user-budget': { method: 'GET', path: '/v1/end-users/{email}/budget' },
  'put-end-user-budget': { method: 'PUT', path: '/v1/end-users/{email}/budget' },
  'create-upload': { method: 'POST', path: '/v1/uploads' },
  'get-balance': { method: 'GET', path: '/v1/balance' },
  'list-balance-history': { method: 'GET', path: '/v1/balance/history' },
  'get-usage': { method: 'GET', path: '/v1/usage' },
  'receive-callback': { method: 'POST', path: '/callbacks/{provider}/{requestId}/{token}' },
} as const satisfies Record<string, Route>;

/** The name of an endpoint. */
export type EndpointName = keyof typeof ROUTES;

/** The endpoint that a deployment has only where it publishes rates. */
export const QUOTES = 'create-quote' satisfies EndpointName;

/** The path prefix of the routes for OpenAI clients. */
export const OPENAI_ROOT = '/openai';

/** The routes for OpenAI's clients, as `ROUTES`: in their shapes, and only where the deployment wants them. */
export const OPENAI_ROUTES = {
  'list-openai-models': { method: 'GET', path: '/openai/v1/models' },
  'get-openai-model': { method: 'GET', path: '/openai/v1/models/{model}' },
  'create-openai-image': { method: 'POST', path: '/openai/v1/images/generations' },
  'edit-openai-image': { method: 'POST', path: '/openai/v1/images/edits' },
} as const satisfies Record<string, Route>;

/** The routes of videos for OpenAI's clients: one function serves them, `functions/api/${OPENAI_VIDEOS}.ts`. */
export const OPENAI_VIDEO_ROUTES = {
  'create-openai-video': { method: 'POST', path: '/openai/v1/videos' },
  'list-openai-videos': { method: 'GET', path: '/openai/v1/videos' },
  'get-openai-video': { method: 'GET', path: '/openai/v1/videos/{requestId}' },
  'delete-openai-video': { method: 'DELETE', path: '/openai/v1/videos/{requestId}' },
  'get-openai-video-content': { method: 'GET', path: '/openai/v1/videos/{requestId}/content' },
} as const satisfies Record<string, Route>;
/** The function of these routes. */
export const OPENAI_VIDEOS = 'openai-videos';

/** The name of an endpoint for OpenAI's clients. */
export type OpenAiEndpointName = keyof typeof OPENAI_ROUTES;

const EVERY_ROUTE = { ...ROUTES, ...OPENAI_ROUTES, ...OPENAI_VIDEO_ROUTES };

/** A route as text: `POST /v1/videos`. */
export const routeText = (name: keyof typeof EVERY_ROUTE): string =>
  `${EVERY_ROUTE[name].method} ${EVERY_ROUTE[name].path}`;

/** The methods that a path takes, in the order of the routes; none for an unknown one. */
export const methodsOf = (path: string): string[] =>
  Object.values(EVERY_ROUTE).flatMap((route) => (route.path === path ? [route.method] : []));

/** A route's path with its parameters filled in, not encoded. Throws when one is missing. */
export const routePath = (name: EndpointName, parameters: Record<string, string>): string =>
  ROUTES[name].path.replace(/\{(\w+)\}/g, (_, parameter: string) => {
    const value = parameters[parameter];
    if (value === undefined) throw new Error(`The path of ${name} needs ${parameter}.`);
    return value;
  });
