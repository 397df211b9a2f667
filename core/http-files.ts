import type { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import { allowPrivateTargets } from './environment.ts';

/** A file that cannot be had from its URL. `retryable` says whether asking again may help. */
export class FileUnavailableError extends Error {
  override name = 'FileUnavailableError';
  readonly retryable: boolean;

  constructor(message: string, retryable: boolean, cause?: unknown) {
    super(message, { cause });
    this.retryable = retryable;
  }
}

/** Longest silence of a server that sends a file. */
const SILENCE_LIMIT_MS = 30_000;
const agent = new Agent({
  connect: { timeout: 5_000 },
  headersTimeout: SILENCE_LIMIT_MS,
  bodyTimeout: SILENCE_LIMIT_MS,
});

/**
 * The body of a file as it arrives, without redirects. Reading it fails when the connection ends before the
 * announced length. Throws `FileUnavailableError` for any answer but 200.
 */
export const openFile = async (url: string, signal: AbortSignal): Promise<Readable> => {
  const { protocol } = new URL(url);
  if (protocol !== 'https:' && !(protocol === 'http:' && allowPrivateTargets())) {
    throw new FileUnavailableError(`A file is not fetched over ${protocol}`, false);
  }
  let response: Awaited<ReturnType<typeof request>>;
  try {
    response = await request(url, { dispatcher: agent, signal });
  } catch (error) {
    throw new FileUnavailableError('The file server did not answer.', !signal.aborted, error);
  }
  if (response.statusCode !== 200) {
    await response.body.dump();
    throw new FileUnavailableError(
      `The file server answered ${response.statusCode}.`,
      response.statusCode >= 500 || response.statusCode === 429,
    );
  }
  return response.body;
};
