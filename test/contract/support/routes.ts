/** One route of the API and the scope its callers need. */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  scope: string;
  /** Parameters that it needs. */
  query?: string;
}

/** The routes of the API; path parameters stand in braces. */
export const ROUTES: readonly Route[] = [
  { method: 'POST', path: '/v1/generations', scope: 'generations:write' },
  { method: 'GET', path: '/v1/generations', scope: 'generations:read' },
  { method: 'GET', path: '/v1/generations/{requestId}', scope: 'generations:read' },
  { method: 'DELETE', path: '/v1/generations/{requestId}', scope: 'generations:write' },
  { method: 'POST', path: '/v1/generations/bulk-delete', scope: 'generations:write' },
  { method: 'POST', path: '/v1/videos', scope: 'generations:write' },
  { method: 'GET', path: '/v1/videos', scope: 'generations:read' },
  { method: 'GET', path: '/v1/videos/{requestId}', scope: 'generations:read' },
  { method: 'POST', path: '/v1/quotes', scope: 'generations:write' },
  { method: 'POST', path: '/v1/uploads', scope: 'generations:write' },
  { method: 'GET', path: '/v1/models', scope: 'models:read' },
  { method: 'GET', path: '/v1/end-users', scope: 'end-users:read' },
  { method: 'POST', path: '/v1/end-users/{email}/block', scope: 'end-users:write' },
  { method: 'POST', path: '/v1/end-users/{email}/unblock', scope: 'end-users:write' },
  { method: 'DELETE', path: '/v1/end-users/{email}', scope: 'end-users:write' },
  { method: 'GET', path: '/v1/end-users/{email}/budget', scope: 'end-users:read' },
  { method: 'PUT', path: '/v1/end-users/{email}/budget', scope: 'end-users:write' },
  { method: 'GET', path: '/v1/balance', scope: 'balance:read' },
  { method: 'GET', path: '/v1/balance/history', scope: 'balance:read' },
  { method: 'GET', path: '/v1/usage', scope: 'balance:read', query: '?from=2026-11-01&to=2026-12-01' },
];

/** The path with its parameter replaced; by default by an id that does not exist. */
export const filled = (path: string, value?: string): string =>
  path
    .replace('{requestId}', value ?? 'img_01ARZ3NDEKTSV4RRFFQ69G5FAV')
    .replace('{email}', value ?? 'nobody@example.com');
