import { computed, signal } from '@preact/signals';
import { GenerationClient } from '../../packages/client/src/index.ts';

const API_KEY = 'apiKey';
const OPERATOR_TOKEN = 'operatorToken';

/** The API key that the user gave, kept for the tab. Undefined: none yet. */
export const apiKey = signal(sessionStorage.getItem(API_KEY) ?? undefined);

/** The caller of the public API, at the address of the console. */
export const client = computed(() =>
  apiKey.value === undefined
    ? undefined
    : new GenerationClient({ baseUrl: location.origin, apiKey: apiKey.value }),
);

/** The client of the key in use. Throws without one: pages are shown only with a key. */
export const requiredClient = (): GenerationClient => {
  if (!client.value) throw new Error('There is no API key.');
  return client.value;
};

/** Uses a key from now on, in this tab only. */
export const signIn = (key: string): void => {
  sessionStorage.setItem(API_KEY, key);
  apiKey.value = key;
};

/** Forgets the key, and everything that was read with it: the page is loaded anew. */
export const signOut = (): void => {
  sessionStorage.removeItem(API_KEY);
  location.hash = '';
  location.reload();
};

/**
 * The token of the local run's operator, which its address in the terminal carries after `#`. Taken from there at once, so that it is
 * neither seen nor kept in the history.
 */
const takeOperatorToken = (): string | undefined => {
  const token = /^#operator=([\w-]+)$/.exec(location.hash)?.[1];
  if (token === undefined) return sessionStorage.getItem(OPERATOR_TOKEN) ?? undefined;
  sessionStorage.setItem(OPERATOR_TOKEN, token);
  history.replaceState(null, '', location.pathname);
  return token;
};

/** The token of the operator's endpoint. Undefined in a deployment, and where the address of the terminal was not opened. */
export const operatorToken = signal(takeOperatorToken());

/** Forgets a token that the local run does not take any more: it started again. */
export const forgetOperator = (): void => {
  sessionStorage.removeItem(OPERATOR_TOKEN);
  operatorToken.value = undefined;
};

/**
 * Whether this service calls addresses in private networks. A local run does by default; a deployment does only by a setting of its
 * operator, whose callers learn of it when they send.
 */
export const allowsPrivateTargets = ['127.0.0.1', 'localhost'].includes(location.hostname);
