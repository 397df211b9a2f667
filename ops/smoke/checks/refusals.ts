import * as z from 'zod/mini';
import { type Check, CheckFailedError, ensure, left } from '../check.ts';
import { type ApiAnswer, type CallOptions, shown } from '../http.ts';
import type { Smoke } from '../smoke.ts';

const ErrorBody = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/** Throws unless an answer is a refusal as the API makes them, with this status and code, and a request id. */
export const expectRefusal = (what: string, answer: ApiAnswer, status: number, code: string): void => {
  const body = ErrorBody.safeParse(answer.body);
  const isAsExpected = answer.status === status && body.success && body.data.error.code === code;
  if (!isAsExpected)
    throw new CheckFailedError(`${what} answered ${shown(answer)} instead of ${status} ${code}.`);
  ensure(answer.headers.has('x-request-id'), `${what} answered without X-Request-Id.`);
};

interface Refusal {
  name: string;
  method: string;
  path: string;
  /** Whether the call has the account's key. */
  withKey: boolean;
  options?: CallOptions;
  status: number;
  code: string;
}

const UNKNOWN = { method: 'POST', path: '/v1/no-such-route', status: 404, code: 'not_found' } as const;

const REFUSALS: readonly Refusal[] = [
  { name: 'unknown route', ...UNKNOWN, method: 'GET', withKey: false },
  // The gateway takes such a call for a signed one where a path has no method.
  { name: 'unknown route with a key', ...UNKNOWN, method: 'GET', withKey: true },
  {
    name: 'unknown route, rare content type',
    ...UNKNOWN,
    withKey: true,
    options: { body: '<a/>', contentType: 'application/vnd.smoke+xml' },
  },
  {
    name: 'wrong method',
    method: 'DELETE',
    path: '/v1/balance',
    withKey: true,
    status: 404,
    code: 'not_found',
  },
  {
    name: 'missing key',
    method: 'GET',
    path: '/v1/balance',
    withKey: false,
    status: 401,
    code: 'unauthorized',
  },
  {
    name: 'wrong key',
    method: 'GET',
    path: '/v1/balance',
    withKey: false,
    options: { key: 'gsk_wrong' },
    status: 401,
    code: 'unauthorized',
  },
];

const refusalCheck = ({ name, method, path, withKey, options, status, code }: Refusal): Check => ({
  name,
  async run({ caller, made }: Smoke) {
    const key = withKey ? { key: left(made.key, 'key') } : {};
    const answer = await caller.call(method, path, { ...key, ...options });
    expectRefusal(`${method} ${path}`, answer, status, code);
    return `${status} ${code}`;
  },
});

/** Calls that the gateway or a function must refuse, in the API's own form. */
export const REFUSAL_CHECKS: readonly Check[] = REFUSALS.map(refusalCheck);
