import type { Status } from '../state/record-rules.ts';
import { forgetOperator, operatorToken } from '../state/session.ts';
import { loseConnection } from './connection.ts';
import type { RequestReport } from './report.ts';

/** A key of the account, without its text. */
export interface KeyListing {
  keyId: string;
  label: string;
  scopes: string[];
  last4: string;
  createdAt: string;
  lastUsedAt: string | null;
  revokedAt: string | null;
}

/**
 * The price of one output of a model, in xTokens: per image of each size, or per second of each resolution.
 */
export interface ModelRate {
  model: string;
  perImage?: { maxPixels: number | null; xTokens: number }[];
  perSecond?: Record<string, number>;
}

/** The operator's endpoint refused, or is not there. The message is for people. */
export class OperatorError extends Error {
  override name = 'OperatorError';
}

/** The endpoint cannot be reached, or something else answers in its place. */
export class ConnectionLostError extends OperatorError {
  override name = 'ConnectionLostError';
}

const lose = (why: string): ConnectionLostError => {
  loseConnection(why, isBack);
  return new ConnectionLostError(why);
};

/** Whether the endpoint answers, be it a refusal. */
const isBack = async (): Promise<boolean> => {
  try {
    await readVersion();
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return !(error instanceof ConnectionLostError);
  }
  return true;
};

/** Answers of what stands before the endpoint, and of a run that is starting. */
const NOT_READY = [502, 503, 504];

/** Sends a call, and reads the answer as JSON. Throws `ConnectionLostError`. */
const send = async (
  path: string,
  init: RequestInit,
): Promise<{ status: number; ok: boolean; answer: { error?: { message?: string } } }> => {
  let text: string;
  let response: Response;
  try {
    response = await fetch(`/operator${path}`, init);
    text = await response.text();
  } catch (error) {
    // `fetch` throws these for everything that keeps an answer away.
    if (!(error instanceof TypeError)) throw error;
    throw lose('The service could not be reached. Nothing else happens until it is back.');
  }
  const { status, ok } = response;
  if (NOT_READY.includes(status))
    throw lose(`The service could not be reached: it is not ready yet (HTTP ${status}).`);
  try {
    return { status, ok, answer: JSON.parse(text) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw lose(`The service could not be reached: something else answered in its place (HTTP ${status}).`);
  }
};

/** Calls the operator's endpoint, which only a local run and `ops console` have. Throws `OperatorError`. */
const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
  const { status, ok, answer } = await send(path, {
    method,
    headers: {
      Authorization: `Bearer ${operatorToken.peek() ?? ''}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (ok) return answer as T;
  if (status === 401) {
    forgetOperator();
    throw new OperatorError('The service started again: open the address that the terminal shows.');
  }
  throw new OperatorError(answer.error?.message ?? `The service refused (HTTP ${status}).`);
};

/** A path with a query of what is given. */
const withQuery = (path: string, query: Record<string, string>): string => {
  const given = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''));
  return given.size === 0 ? path : `${path}?${given}`;
};

const segment = encodeURIComponent;

/** An account, as operators see it. */
export interface AccountListing {
  accountId: string;
  name: string;
  xTokens: number;
}

/** A request of any account. */
export interface RequestListing {
  requestId: string;
  accountId: string;
  status: Status;
  model: string;
  createdAt: string;
}

/** An end-user of an account. */
export interface EndUserListing {
  email: string;
  totalRequests: number;
  totalXTokensSpent: number;
  lastActiveAt: string | null;
  blockedAt: string | null;
}

/** A change by staff. */
export interface AuditListing {
  auditId: string;
  at: string;
  actor: string;
  identity: string | null;
  action: string;
  accountId: string | null;
  subject: string | null;
  detail: string | null;
}

/** Filters of the requests of all accounts; an empty one does not limit. */
export interface RequestFilter {
  account: string;
  status: string;
  model: string;
  'end-user': string;
}

/** A top-up, which is made once for each idempotency key. */
export interface TopUp {
  amount: string;
  note: string;
  idempotencyKey: string;
}

/** The upstream behind a model, and how full it is. Null: not known, or no limit. */
export interface RouteListing {
  model: string;
  provider: string;
  upstreamModel: string;
  state: string;
  endedIn5Minutes: number;
  failedIn5Minutes: number;
  lastError: { at: string; text: string } | null;
  running: number | null;
  maxRunning: number | null;
  waiting: number | null;
  oldestWaitingSeconds: number | null;
}

/** The key of the account that the local run created at its first start. */
export const readDemoKey = async (): Promise<string> =>
  (await call<{ apiKey: string }>('GET', '/key')).apiKey;
/** Everything stored about a request. */
export const readReport = (requestId: string): Promise<RequestReport> =>
  call('GET', `/requests/${segment(requestId)}`);
/** Delivers the webhook of a request again, with the same webhook id. */
export const resendWebhook = (requestId: string): Promise<unknown> =>
  call('POST', `/requests/${segment(requestId)}/webhook`);
/** All accounts, oldest first. */
export const listAccounts = (): Promise<AccountListing[]> => call('GET', '/accounts');
/** The keys of an account, oldest first. */
export const listKeys = (accountId: string): Promise<KeyListing[]> =>
  call('GET', `/accounts/${segment(accountId)}/keys`);
/** Creates a key. Its text is in this answer only. */
export const createKey = (
  accountId: string,
  body: { label: string },
): Promise<{ key: string; keyId: string }> => call('POST', `/accounts/${segment(accountId)}/keys`, body);
/** Revokes a key for good. */
export const revokeKey = (keyId: string): Promise<unknown> => call('DELETE', `/keys/${segment(keyId)}`);
/** The rate of every model: the general ones, or those of an account. */
export const listRates = (accountId?: string): Promise<ModelRate[]> =>
  call('GET', accountId === undefined ? '/rates' : `/accounts/${segment(accountId)}/rates`);
/** Sets the rate of a model. Accepted requests keep their price. A price above twice the former is refused unless `yes`. */
export const setRate = (
  model: string,
  rate: Pick<ModelRate, 'perImage' | 'perSecond'> & { yes?: true },
): Promise<ModelRate> => call('PUT', `/rates/${segment(model)}`, rate);
/** The service that is operated, such as `stack Trial`, and its version. */
export const readVersion = (): Promise<{ service: string | null; version: string | null }> =>
  call('GET', '/version');
/** The upstreams behind the models. */
export const listRoutes = (): Promise<RouteListing[]> => call('GET', '/routes');
/** Requests in a page of the list below. */
export const REQUESTS_OF_A_PAGE = 50;
/** A page of the requests of all accounts, newest first. */
export const listAllRequests = (filter: RequestFilter, page: number): Promise<RequestListing[]> =>
  call('GET', withQuery('/requests', { ...filter, page: String(page) }));
/** The end-users of an account with a text in their address, newest first. */
export const listEndUsers = (
  accountId: string,
  search: string,
): Promise<{ items: EndUserListing[]; hasMore: boolean }> =>
  call('GET', withQuery(`/accounts/${segment(accountId)}/end-users`, { search }));
/** The latest changes by staff, newest first. */
export const listAudit = (): Promise<AuditListing[]> => call('GET', '/audit');
/** Adds xTokens to the balance of an account. */
export const topUp = (accountId: string, body: TopUp): Promise<{ balanceAfter: number }> =>
  call('POST', `/accounts/${segment(accountId)}/topups`, body);
