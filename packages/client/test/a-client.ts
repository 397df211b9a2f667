import { afterAll, afterEach, beforeEach } from '@jest/globals';
import { GenerationClient, GenerationServiceError } from '../src/index.ts';
import { FaultyServer, json } from './server.ts';
import { restoreTimers } from './timers.ts';

export const BODY = { model: 'xZI1.0Pro', prompt: 'a lighthouse', endUserEmail: 'ada@example.com' };
export const QUEUED = { requestId: 'img_1', status: 'queued', referencesCount: 0 };
export const accepted = json(202, QUEUED);

/** A server for the tests of a file, and clients of it whose pauses are short: the random part of a back-off is 0. */
export const startServer = async () => {
  const server = await new FaultyServer().start();
  const random = Math.random;
  beforeEach(() => {
    Math.random = () => 0;
  });
  afterEach(() => restoreTimers());
  afterAll(async () => {
    Math.random = random;
    await server.close();
  });
  return {
    server,
    aClient: (options: Partial<ConstructorParameters<typeof GenerationClient>[0]> = {}) =>
      new GenerationClient({ baseUrl: `${server.url}/`, apiKey: 'gsk_test', ...options }),
    /** The idempotency keys of the requests that arrived. */
    keysSeen: () => server.seen.map(({ headers }) => headers['idempotency-key']),
  };
};

/** The client's error of a call that fails. */
export const errorOf = async (call: PromiseLike<unknown>): Promise<GenerationServiceError> => {
  try {
    await call;
  } catch (error) {
    if (error instanceof GenerationServiceError) return error;
    throw error;
  }
  throw new Error('The call did not fail.');
};
