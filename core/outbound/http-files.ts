import type { Readable } from 'node:stream';
import { guardedRequest, TargetRefusedError } from './guarded-http.ts';

/** A file that cannot be had from its URL. `retryable` says whether asking again may help. */
export class FileUnavailableError extends Error {
  override name = 'FileUnavailableError';
  readonly retryable: boolean;

  constructor(message: string, retryable: boolean, cause?: unknown) {
    super(message, { cause });
    this.retryable = retryable;
  }
}

/**
 * The body of a file as it arrives, without redirects. Reading it fails when the connection ends before the
 * announced length. Throws `FileUnavailableError` for any answer but 200, and for a URL that is not called.
 */
export const openFile = async (url: string, signal: AbortSignal): Promise<Readable> => {
  let response: Awaited<ReturnType<typeof guardedRequest>>;
  try {
    response = await guardedRequest(url, { signal });
  } catch (error) {
    if (error instanceof TargetRefusedError)
      throw new FileUnavailableError('The file is not fetched from there.', false, error);
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
