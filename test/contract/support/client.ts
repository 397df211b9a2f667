import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { type Answer, checkAnswer } from './answers.ts';
import { checkDeclared } from './declared-answers.ts';
import { callFixtures, type LocalService, ops, readLocalService } from './local-service.ts';
import type { SharedRun } from './shared-runs.ts';

/** A caller with a key: sends requests to the API of a local run. */
export interface Caller {
  service: LocalService;
  accountId: string;
  key: string;
  get<T = Record<string, unknown>>(path: string): Promise<Answer<T>>;
  post<T = Record<string, unknown>>(
    path: string,
    body: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer<T>>;
}

/** A local run that test files share; starts on first use. */
export const sharedService = async (name: SharedRun = 'default'): Promise<LocalService> => {
  const { dataDir } = await callFixtures<{ dataDir: string }>('/runs', { name });
  return readLocalService(dataDir);
};

/**
 * Sends one request: a string body unchanged, any other body as JSON. Throws when the answer lacks what every answer
 * must have, or differs from the OpenAPI document: every test checks its answers.
 */
export const send = async <T = Record<string, unknown>>(
  service: Pick<LocalService, 'baseUrl'>,
  method: string,
  path: string,
  options: { headers?: Record<string, string>; body?: unknown } = {},
): Promise<Answer<T>> => {
  const { body } = options;
  const response = await fetch(service.baseUrl + path, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...options.headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const answer = { status: response.status, headers: response.headers, body: (await response.json()) as T };
  checkAnswer(`${method} ${path}`, answer);
  checkDeclared(method, path, answer);
  return answer;
};

/** A caller with a given key. */
export const callerWith = (service: LocalService, accountId: string, key: string): Caller => {
  const headers = { authorization: `Bearer ${key}` };
  return {
    service,
    accountId,
    key,
    get: (path) => send(service, 'GET', path, { headers }),
    post: (path, body, more = {}) => send(service, 'POST', path, { headers: { ...headers, ...more }, body }),
  };
};

/** A caller with a new account, so that tests do not disturb each other, and the rate limit every new key has. */
export const newCallerWithDefaultLimits = async (
  service: LocalService,
  xTokens = 10_000,
): Promise<Caller & { webhookSecret: string }> => {
  const { accountId, webhookSecret } = await ops<{ accountId: string; webhookSecret: string }>(
    service,
    ...['accounts', 'create', '--name', 'a test'],
  );
  const topup = () => ops(service, 'balance', 'topup', '--account', accountId, '--amount', String(xTokens));
  const [{ key }] = await Promise.all([
    ops<{ key: string }>(service, 'keys', 'create', '--account', accountId),
    xTokens > 0 ? topup() : undefined,
  ]);
  return { ...callerWith(service, accountId, key), webhookSecret };
};

/** A caller with another key of the account, which has these scopes. */
export const withScopes = async (
  { service, accountId }: Caller,
  ...scopes: string[]
): Promise<Caller & { keyId: string }> => {
  const { key, keyId } = await ops<{ key: string; keyId: string }>(
    service,
    ...['keys', 'create', '--account', accountId, '--scopes', scopes.join(',')],
  );
  return { ...callerWith(service, accountId, key), keyId };
};

/** Sets the rate limit of each key of an account. */
export const setLimits = (
  { service, accountId }: Pick<Caller, 'service' | 'accountId'>,
  requestsPerSecond: number,
  burst: number,
) =>
  ops<{ accountId: string; limits: { requestsPerSecond: number; burst: number } }>(
    service,
    ...['accounts', 'set-limits', '--account', accountId],
    ...['--requests-per-second', String(requestsPerSecond), '--burst', String(burst)],
  );

/** A caller with a new account whose rate limit no test reaches. */
export const newCaller = async (
  service: LocalService,
  xTokens?: number,
): Promise<Caller & { webhookSecret: string }> => {
  const caller = await newCallerWithDefaultLimits(service, xTokens);
  await setLimits(caller, 10_000, 100_000);
  return caller;
};

/** The fields of a record that the tests read. */
export interface AnyRecord {
  requestId: string;
  status: string;
  model?: string;
  prompt?: string;
  endUserEmail?: string;
  pollUrl?: string;
  createdAt?: string;
  cost?: number;
  finishedAt?: string;
  images?: { id: string; size: string; expiresAt: string; url?: string; error?: { code: string } }[];
  error?: { code: string; message: string };
}

/** A prompt used nowhere else: the sandbox counts attempts by prompt for some directives. */
export const unique = (directives = ''): string => `${directives} a test picture ${Math.random()}`.trim();

/** The smallest body that creates an image. */
export const aGeneration = (body: Record<string, unknown> = {}): Record<string, unknown> => ({
  model: 'xZI1.0Pro',
  prompt: unique(),
  endUserEmail: 'ada@example.com',
  ...body,
});

/** A body that is accepted and then refused by the provider, for tests that need no image. */
export const anUndrawnGeneration = (body: Record<string, unknown> = {}): Record<string, unknown> =>
  aGeneration({ prompt: unique('[fail=content_policy]'), ...body });

/** Creates images and returns the accepted record. Throws with the refusal otherwise. */
export const accepted = async (caller: Caller, body: Record<string, unknown>): Promise<AnyRecord> => {
  const answer = await caller.post<AnyRecord>('/v1/generations', aGeneration(body));
  if (answer.status !== 202) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
};

/** The record of a request as it reads now. */
export const read = async (caller: Caller, requestId: string): Promise<AnyRecord> =>
  (await caller.get<AnyRecord>(`/v1/generations/${requestId}`)).body;

/** The first pause between two polls. Each is half as long again as the one before, at most a second: most waits are short. */
const FIRST_PAUSE_MILLISECONDS = 200;
const longer = (pause: number): number => Math.min(1.5 * pause, 1_000);

/** Polls until `done` holds, at most `patienceSeconds`. */
export const eventually = async <T>(
  check: () => Promise<T>,
  done: (value: T) => boolean,
  patienceSeconds = 110,
): Promise<T> => {
  const giveUpAt = Date.now() + patienceSeconds * 1000;
  for (let pause = FIRST_PAUSE_MILLISECONDS; ; pause = longer(pause)) {
    const value = await check();
    if (done(value)) return value;
    if (Date.now() > giveUpAt) throw new Error(`The condition was never met: ${JSON.stringify(value)}`);
    await sleep(pause);
  }
};

/** Waits until a reading equals what is expected, at most 60 s; throws how the last reading differs. A failed reading is repeated too. */
export const becomes = async (
  read: () => unknown,
  expected: unknown,
  patienceSeconds = 60,
): Promise<void> => {
  const giveUpAt = Date.now() + patienceSeconds * 1000;
  for (let pause = FIRST_PAUSE_MILLISECONDS; ; pause = longer(pause)) {
    try {
      expect(await read()).toEqual(expected);
      return;
    } catch (error) {
      if (Date.now() > giveUpAt) throw error;
    }
    await sleep(pause);
  }
};

const TERMINAL = new Set(['succeeded', 'failed', 'expired']);

/** The record of a request in its terminal state. */
export const settled = (caller: Caller, requestId: string): Promise<AnyRecord> =>
  eventually(
    () => read(caller, requestId),
    ({ status }) => TERMINAL.has(status),
  );
