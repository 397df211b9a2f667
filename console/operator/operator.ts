import { forgetOperator, operatorToken } from '../state/session.ts';
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

/** Calls the operator's endpoint, which only a local run and `ops console` have. Throws `OperatorError`. */
const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
  const response = await fetch(`/operator${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${operatorToken.peek() ?? ''}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  if (response.ok) return answer as T;
  if (response.status === 401) {
    forgetOperator();
    throw new OperatorError('The service started again: open the address that the terminal shows.');
  }
  throw new OperatorError(answer.error?.message ?? `HTTP ${response.status}`);
};

const segment = encodeURIComponent;

/** An account, as operators see it. */
export interface AccountListing {
  accountId: string;
  name: string;
  xTokens: number;
}

/** The upstream behind a model, and how full it is. Null: not known, or no limit. */
export interface RouteListing {
  model: string;
  provider: string;
  upstreamModel: string;
  state: string;
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
