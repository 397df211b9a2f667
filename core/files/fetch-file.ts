import { TargetRefusedError } from '../guarded-http/guarded-http.ts';
import { FileUnavailableError, openFile } from '../guarded-http/http-files.ts';

/** A caller's file that could not be fetched. The message completes "the file …". */
export class FileNotFetchedError extends Error {
  override name = 'FileNotFetchedError';
  /** The status of the server's answer, if there was an answer. */
  readonly status: number | undefined;

  constructor(message: string, status?: number, cause?: unknown) {
    super(message, { cause });
    this.status = status;
  }
}

/**
 * The bytes of a caller's file as they come. Throws `FileNotFetchedError`, which says why. A URL that the service refuses to call reads like
 * that of a server that does not answer.
 */
export const fetchedBytes = async function* (url: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* await openFile(url, signal);
  } catch (error) {
    throw notFetched(error);
  }
};

const notFetched = (error: unknown): FileNotFetchedError => {
  const isRefused = error instanceof FileUnavailableError && error.cause instanceof TargetRefusedError;
  const message = error instanceof FileUnavailableError ? error.message : 'The file broke off.';
  const said = isRefused ? 'The file server did not answer.' : message;
  const reason = `${said.charAt(0).toLowerCase()}${said.slice(1).replace(/\.$/, '')}`;
  const status = /answered (\d{3})/.exec(said)?.[1];
  return new FileNotFetchedError(
    `could not be fetched: ${reason}`,
    status ? Number(status) : undefined,
    error,
  );
};

/** A caller's file in memory. Throws `FileNotFetchedError`, also for a file of more than so many bytes. */
export const fetchFile = async (url: string, maxBytes: number, signal: AbortSignal): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of fetchedBytes(url, signal)) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > maxBytes)
      throw new FileNotFetchedError(`is larger than ${Math.floor(maxBytes / 1024 / 1024)} MB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};
