import { afterAll, beforeEach } from '@jest/globals';
import type { Provider, ProviderAnswer } from '../../../core/provider-calls/providers.ts';
import { Fal } from '../../../providers/fal/fal.ts';
import { ModelArk } from '../../../providers/modelark/modelark.ts';
import { ModelStudio } from '../../../providers/modelstudio/modelstudio.ts';
import { patient, server } from './conformance/server.ts';

/** An answer of a provider: a text is sent as it is, anything else as JSON. */
export interface Sent {
  status: number;
  body: unknown;
  contentType?: string;
  headers?: Record<string, string>;
}

/** The parts that are wanted of an answer; `blamesInput` and `ifRepeated` are false unless they say otherwise. */
type Wanted = Record<string, unknown>;
/** The answers to a creation or a query, and what the last one means. */
export interface Case {
  provider: 'modelark' | 'modelstudio' | 'fal';
  at: 'create' | 'task';
  answers: Sent[];
  want: Wanted;
}

const ADAPTERS = { modelark: ModelArk, modelstudio: ModelStudio, fal: Fal };
const CALL = { path: '/fal-ai/x/y?fal_webhook=z', headers: {}, body: {} };

/** What the provider's adapter makes of the answers. */
export const read = async ({ provider, at, answers }: Case): Promise<ProviderAnswer> => {
  const left = [...answers];
  server.respond = (_, response) => {
    const {
      status,
      body,
      contentType = 'application/json',
      headers,
    } = (left.length > 1 ? left.shift() : left[0]) as Sent;
    response.writeHead(status, { 'content-type': contentType, ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
  const adapter: Provider = new ADAPTERS[provider]({ baseUrl: server.url, apiKey: 'key' });
  return at === 'create' ? adapter.submit(CALL, patient()) : adapter.query('fal-ai/x/id-1', patient());
};

/** The parts of an answer that `want` names. */
export const meaningOf = (answer: ProviderAnswer, want: Wanted): Wanted => {
  const parts: Wanted = {
    ...answer,
    code: 'failure' in answer ? answer.failure?.code : undefined,
    blamesInput: 'blamesInput' in answer ? answer.blamesInput : false,
    ifRepeated: 'ifRepeated' in answer,
  };
  return Object.fromEntries(Object.keys(want).map((name) => [name, parts[name]]));
};

beforeEach(() => server.reset());
afterAll(() => server.close());
