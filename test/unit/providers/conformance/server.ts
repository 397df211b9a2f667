import type { Provider, ProviderAnswer, ProviderCall } from '../../../../core/provider-calls/providers.ts';
import { LoopbackServer } from '../../servers/loopback-server.ts';
import type { Adapter, WireAnswer } from './wire.ts';

/** The provider's server in every adapter test. */
export const server = await new LoopbackServer().start();

/** Lets the server answer all that comes as a provider's wire format says. */
export const answerWith = (answer: WireAnswer): void => {
  server.respond = ({ path }, response) => {
    const { first } = answer;
    const { status, body, headers } = first && path.endsWith(first.pathEnd) ? first.answer : answer;
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
  };
};

/** The failures a request may be recorded with, by the meaning of the provider's error. */
export const FAILURE = {
  content: { code: 'content_policy', message: 'The content filter of the provider refused the request.' },
  timeout: { code: 'provider_timeout', message: 'The upstream provider timed out.' },
  access: { code: 'provider_error', message: 'The upstream provider could not process the request.' },
  error: { code: 'provider_error', message: 'The upstream provider returned an error.' },
  input: { code: 'provider_error', message: 'The upstream provider refused an input of the request.' },
  output: { code: 'content_policy', message: 'The content filter of the provider refused the output.' },
  lost: { code: 'provider_error', message: 'The answer of the upstream provider was lost.' },
} as const;

/** A provider call with a header of its own and a body that is not ASCII. */
export const A_CALL: ProviderCall = {
  path: '/creations/new/one',
  headers: { 'x-own': 'own' },
  body: { prompt: 'ünïcode' },
};

/** A signal that is never aborted. */
export const patient = (): AbortSignal => new AbortController().signal;

/** An adapter that calls this server or the given server. */
export const adapterOf = (adapter: Adapter, baseUrl = server.url): Provider =>
  new adapter({ baseUrl, apiKey: 'secret-key' });

/** What an answer means, without the provider's own id of the call. */
export const meaningOf = async (answer: Promise<ProviderAnswer>): Promise<ProviderAnswer> => {
  const { providerRequestId: _, ...meaning } = await answer;
  return meaning;
};

/** An answer without the provider's own error, which only operators see, and without the refused input, which the end of the request names. */
export const withoutUpstream = (answer: ProviderAnswer): ProviderAnswer => {
  if (answer.kind !== 'failed' && answer.kind !== 'busy') return answer;
  const { upstream: _, ...rest } = answer;
  if (rest.kind !== 'failed') return rest;
  const { input: __, ...failure } = rest.failure;
  return { ...rest, failure };
};
