import { computed, signal } from '@preact/signals';
import { GenerationClient } from '../../packages/client/src/index.ts';

const API_KEY = 'apiKey';
const OPERATOR_TOKEN = 'operatorToken';
const OPERATOR_ONLY = 'operatorOnly';
/** Where what the forms hold is kept for the session. */
export const DRAFTS = 'drafts';

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

/** The account of a key, which its text names. Undefined when it is no key. */
export const accountIdOf = (key: string): string | undefined => /^gsk_(acc_[0-9A-Z]+)_/.exec(key)?.[1];

/** The id of a key, which is the beginning of its digest. */
export const keyIdOf = async (key: string): Promise<string> => {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(key)));
  return `key_${[...digest.slice(0, 16)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
};

/** Forgets the key, and everything that was read with it: the page is loaded anew. */
export const signOut = (): void => {
  for (const name of [API_KEY, OPERATOR_ONLY, DRAFTS]) sessionStorage.removeItem(name);
  location.hash = '';
  location.reload();
};

/**
 * The token of the operator, which the address in the terminal carries after `#`. The token leaves the address at
 * once, and so is neither seen nor kept in the history. The address also says when the console has no pages for
 * callers.
 */
const takeOperatorToken = (): string | undefined => {
  const [, only, token] = /^#operator(-only)?=([\w-]+)$/.exec(location.hash) ?? [];
  if (token === undefined) return sessionStorage.getItem(OPERATOR_TOKEN) ?? undefined;
  sessionStorage.setItem(OPERATOR_TOKEN, token);
  if (only) sessionStorage.setItem(OPERATOR_ONLY, 'always');
  history.replaceState(null, '', location.pathname);
  return token;
};

/** The token of the operator's endpoint. Undefined for callers, and where the address of the terminal was not opened. */
export const operatorToken = signal(takeOperatorToken());
// The address may be opened in a tab that shows the console.
addEventListener('hashchange', () => {
  operatorToken.value = takeOperatorToken();
});

/** The session that open tabs of this console hand to a tab opened from a link. */
interface Session {
  apiKey: string | undefined;
  operatorToken: string | undefined;
  operatorOnly: string | null;
}
const tabs = new BroadcastChannel('session');
let hasAsked = false;

const takeSession = (session: Session): void => {
  for (const [name, value] of Object.entries(session)) if (value) sessionStorage.setItem(name, value);
  isOperatorOnly.value = session.operatorOnly !== null;
  operatorToken.value = session.operatorToken;
  apiKey.value = session.apiKey;
};

const isSignedIn = (): boolean => apiKey.peek() !== undefined || operatorToken.peek() !== undefined;

tabs.addEventListener('message', ({ data }: MessageEvent<'asked' | Session>) => {
  if (data !== 'asked') {
    // The first tab that answers.
    if (hasAsked && !isSignedIn()) takeSession(data);
  } else if (isSignedIn()) {
    const operatorOnly = sessionStorage.getItem(OPERATOR_ONLY);
    const session: Session = { apiKey: apiKey.peek(), operatorToken: operatorToken.peek(), operatorOnly };
    tabs.postMessage(session);
  }
});

/** Whether an operator goes on without a key: the pages of callers are not shown. */
export const isOperatorOnly = signal(sessionStorage.getItem(OPERATOR_ONLY) !== null);

/** Whether this console is `ops console`, which has no API beside it: nobody signs in. */
export const isForOperators = (): boolean => sessionStorage.getItem(OPERATOR_ONLY) === 'always';

/** Goes on as an operator, in this tab only. */
export const continueAsOperator = (): void => {
  sessionStorage.setItem(OPERATOR_ONLY, 'true');
  isOperatorOnly.value = true;
};

/** Forgets a token that is not valid any more, after a new start. */
export const forgetOperator = (): void => {
  sessionStorage.removeItem(OPERATOR_TOKEN);
  operatorToken.value = undefined;
};

/**
 * Whether this service calls addresses in private networks. A local run does by default; a deployment does only by a setting of its
 * operator, whose callers learn of it when they send.
 */
export const allowsPrivateTargets = ['127.0.0.1', 'localhost'].includes(location.hostname);

// A link was opened in a new tab, which has no storage of its own yet: the address leads to a page. Whoever signs out is at none.
if (!isSignedIn() && location.hash.startsWith('#/')) {
  hasAsked = true;
  tabs.postMessage('asked');
}
