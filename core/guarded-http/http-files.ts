import type { Readable } from 'node:stream';
import { allowPrivateTargets } from '../environment.ts';
import { guardedRequest, TargetRefusedError } from './guarded-http.ts';
import { overHttps } from './target-rules.ts';

/** A file could not be fetched or used. `retryable` says whether fetching it again may help. */
export class FileUnavailableError extends Error {
  override name = 'FileUnavailableError';
  readonly retryable: boolean;

  constructor(message: string, retryable: boolean, cause?: unknown) {
    super(message, { cause });
    this.retryable = retryable;
  }
}

/**
 * Streams a provider's file, without following redirects. A URL of plain `http:` is fetched by `https:`: Model Studio
 * documents such URLs, its file server takes both, and a signature covers path and query only. Reading fails when the connection ends before the announced
 * length. Throws `FileUnavailableError` for any status but 200, a refused URL, or no response.
 */
export const openFile = async (url: string, signal: AbortSignal): Promise<Readable> => {
  const request = { headers: { 'accept-encoding': 'identity' }, signal };
  const response = await guardedRequest(overHttps(url, allowPrivateTargets()), request).catch(
    (error: unknown) => {
      if (error instanceof TargetRefusedError)
        throw new FileUnavailableError('The file is not fetched from there.', false, error);
      throw new FileUnavailableError('The file server did not answer.', true, error);
    },
  );
  if (response.statusCode !== 200) {
    response.body.destroy();
    throw new FileUnavailableError(
      `The file server answered ${response.statusCode}.`,
      response.statusCode >= 500 || response.statusCode === 429,
    );
  }
  return response.body;
};
