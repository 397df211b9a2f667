import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Said } from '../verb.ts';

/** Where the endpoint is, beside the console's pages. */
export const OPERATOR_PREFIX = '/operator/';

/** Options of the endpoint. */
export interface OperatorEndpointOptions {
  /** The address of the console, such as `http://127.0.0.1:3000`. */
  baseUrl: string;
  /** The token that authenticates callers. The terminal shows it in the address of the console. */
  token: string;
  /** Runs an operators' command with `--json`. */
  run(args: readonly string[]): Promise<Said>;
  /** The account whose key the console offers, in a local run. */
  account?: () => { apiKey: string };
}

/** A label and rates are small. */
const MAX_BODY_BYTES = 16_384;

/** A call that is refused, in words for the console. */
class RefusedError extends Error {
  override name = 'RefusedError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Whether a call names another host, which DNS led here. */
export const isForOtherHost = ({ headers }: IncomingMessage, baseUrl: string): boolean =>
  headers.host !== new URL(baseUrl).host;

/**
 * Whether a call comes from a page of another origin: a foreign site sent the call, or DNS pointed a foreign host's
 * name at this server. Programs send neither header and need the token like every caller.
 */
const isForeign = (request: IncomingMessage, baseUrl: string): boolean => {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (isForOtherHost(request, baseUrl)) return true;
  return (origin !== undefined && origin !== baseUrl) || (site !== undefined && site !== 'same-origin');
};

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** A body of JSON; undefined when there is none. */
const readBody = async (request: IncomingMessage): Promise<unknown> => {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk;
    if (text.length > MAX_BODY_BYTES) throw new RefusedError(413, 'The body is too long.');
  }
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    if (cause instanceof SyntaxError) throw new RefusedError(400, 'The body is not JSON.');
    throw cause;
  }
};

const rateOf = (body: unknown): unknown => {
  const { perImage, perSecond } = (body ?? {}) as { perImage?: unknown; perSecond?: unknown };
  return perImage ?? perSecond;
};

/** A text of a body; empty where there is none. */
const textOf = (body: unknown, name: string): string => {
  const value = ((body ?? {}) as Record<string, unknown>)[name];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
};

/** The options of a list that are given in a query, each as it is for the command. */
const optionsIn = (query: URLSearchParams, names: readonly string[]): string[] =>
  names.flatMap((name) => {
    const value = query.get(name) ?? '';
    return value === '' ? [] : [`--${name}=${value}`];
  });

/** The words for a person in what a command printed: a refused option says what its value must be. */
const wordsOf = (stderr: string): string => {
  const [line = ''] = stderr.trim().split('\n');
  return /^error: option .* is invalid\. (.+)$/.exec(line)?.[1] ?? line;
};

/** Whether a person confirmed the change on the page. */
const isConfirmed = (body: unknown): boolean => ((body ?? {}) as { yes?: unknown }).yes === true;

/** The operators' command behind each route; values are given after `=`, so that none is taken for an option. */
const ROUTES: {
  method: string;
  path: RegExp;
  command: (id: string, body: unknown, query: URLSearchParams) => string[];
}[] = [
  {
    method: 'GET',
    path: /^requests$/,
    command: (_id, _body, query) => [
      ...['requests', 'list'],
      ...optionsIn(query, ['account', 'status', 'model', 'end-user', 'page']),
    ],
  },
  { method: 'GET', path: /^requests\/([^/]+)$/, command: (id) => ['requests', 'show', `--id=${id}`] },
  {
    method: 'POST',
    path: /^requests\/([^/]+)\/webhook$/,
    command: (id) => ['requests', 'retry-webhook', `--id=${id}`],
  },
  { method: 'GET', path: /^accounts$/, command: () => ['accounts', 'list'] },
  { method: 'GET', path: /^accounts\/([^/]+)\/keys$/, command: (id) => ['keys', 'list', `--account=${id}`] },
  {
    method: 'POST',
    path: /^accounts\/([^/]+)\/topups$/,
    command: (id, body) => [
      ...['balance', 'topup', `--account=${id}`, `--amount=${textOf(body, 'amount')}`],
      ...[`--note=${textOf(body, 'note')}`, `--idempotency-key=${textOf(body, 'idempotencyKey')}`],
    ],
  },
  {
    method: 'GET',
    path: /^accounts\/([^/]+)\/end-users$/,
    command: (id, _body, query) => [
      ...['end-users', 'list', `--account=${id}`],
      ...optionsIn(query, ['search', 'page']),
    ],
  },
  {
    method: 'GET',
    path: /^audit$/,
    command: (_id, _body, query) => ['audit', 'list', ...optionsIn(query, ['account', 'limit'])],
  },
  {
    method: 'GET',
    path: /^accounts\/([^/]+)\/rates$/,
    command: (id) => ['rates', 'list', `--account=${id}`],
  },
  {
    method: 'POST',
    path: /^accounts\/([^/]+)\/keys$/,
    command: (id, body) => ['keys', 'create', `--account=${id}`, `--label=${textOf(body, 'label')}`],
  },
  { method: 'DELETE', path: /^keys\/([^/]+)$/, command: (id) => ['keys', 'revoke', `--key-id=${id}`] },
  { method: 'GET', path: /^rates$/, command: () => ['rates', 'list'] },
  {
    method: 'PUT',
    path: /^rates\/([^/]+)$/,
    command: (id, body) => [
      ...['rates', 'set', `--model=${id}`, `--value=${JSON.stringify(rateOf(body))}`],
      ...(isConfirmed(body) ? ['--yes'] : []),
    ],
  },
  { method: 'GET', path: /^routes$/, command: () => ['routes', 'list'] },
  { method: 'GET', path: /^version$/, command: () => ['version'] },
];

/**
 * The operator's endpoint: what the console shows beyond the public API. Each route runs an operators' command and
 * answers what the command prints with `--json`. In a local run, `GET /operator/key` answers the key of the first
 * account. For pages of the same origin only, and with the token.
 */
export const createOperatorEndpoint = ({ baseUrl, token, run, account }: OperatorEndpointOptions) => {
  const answer = async (request: IncomingMessage): Promise<unknown> => {
    if (isForeign(request, baseUrl)) throw new RefusedError(403, 'Only pages of this address may call this.');
    const given = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if (!timingSafeEqual(digest(given), digest(token))) {
      throw new RefusedError(401, 'The address that the terminal shows has the token.');
    }
    const [pathname = '', query] = (request.url ?? '').split('?', 2);
    const path = pathname.slice(OPERATOR_PREFIX.length);
    if (account && request.method === 'GET' && path === 'key') return { apiKey: account().apiKey };
    const route = ROUTES.find((one) => one.method === request.method && one.path.test(path));
    if (!route) throw new RefusedError(404, 'There is no such route.');
    const id = decodeURIComponent(route.path.exec(path)?.[1] ?? '');
    const said = await run(route.command(id, await readBody(request), new URLSearchParams(query)));
    if (said.status !== 0) throw new RefusedError(400, wordsOf(said.stderr));
    return JSON.parse(said.stdout);
  };

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      send(response, 200, await answer(request));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      send(response, error instanceof RefusedError ? error.status : 500, { error: { message } });
    }
  };
};

const send = (response: ServerResponse, status: number, body: unknown): void => {
  const headers = {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  };
  response.writeHead(status, headers).end(JSON.stringify(body));
};
