import type { Readable } from 'node:stream';
import { allowPrivateTargets } from '../environment.ts';
import type { ExchangeResponse } from '../http-exchange.ts';
import { decoded } from './content-encoding.ts';
import { guardedRequest, TargetRefusedError } from './guarded-http.ts';
import { overHttps } from './target-rules.ts';

/**
 * Why a file could not be fetched, and whether another attempt may help. `final`: another attempt cannot help. `absent`,
 * `cut-off`: the server of a new file may have the whole file in a moment. `out-of-order`: the server or the network fails.
 */
export type FileFault = 'final' | 'absent' | 'cut-off' | 'out-of-order';

/** A file could not be fetched or used. */
export class FileUnavailableError extends Error {
  override name = 'FileUnavailableError';
  readonly fault: FileFault;

  constructor(message: string, fault: FileFault, cause?: unknown) {
    super(message, { cause });
    this.fault = fault;
  }
}

/** The most redirects on the way to a file. */
const MAX_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Statuses of file servers that do not have a new file yet; S3 answers 403 without the right to list. */
const NOT_YET = new Set([403, 404]);
/** Statuses besides 5xx of a server that asks to come again. */
const BUSY = new Set([408, 425, 429]);

/**
 * Opens a provider's or caller's file, and follows three redirects. Each address on the way is checked. A URL of plain `http:` is fetched by
 * `https:`: Model Studio documents such URLs, its file server takes both, and a signature covers path and query only. A
 * `Content-Encoding` is decoded. Reading throws `FileUnavailableError` when the file ends before the announced length, or its encoding does. Throws
 * `FileUnavailableError` for any other status but 200, a refused URL, or no response.
 */
export const openFile = async (url: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> => {
  let at = url;
  for (let redirects = 0; ; redirects++) {
    const response = await fetchOnce(at, signal);
    const { statusCode, headers, body } = response;
    if (statusCode === 200) return readable(decodedBody(response));
    body.destroy();
    if (!REDIRECTS.has(statusCode))
      throw new FileUnavailableError(`The file server answered ${statusCode}.`, faultOf(statusCode));
    const next = addressIn(headers.location, at);
    if (!next) throw new FileUnavailableError('The file server redirects to no URL.', 'final');
    if (redirects === MAX_REDIRECTS)
      throw new FileUnavailableError(`The file server redirects more than ${MAX_REDIRECTS} times.`, 'final');
    at = next.href;
  }
};

/** The address in a `Location`. Some servers write it in UTF-8, of which Node makes Latin-1. */
const addressIn = (location: string | undefined, base: string): URL | null =>
  location === undefined ? null : URL.parse(Buffer.from(location, 'latin1').toString(), base);

const fetchOnce = async (url: string, signal: AbortSignal): Promise<ExchangeResponse> => {
  try {
    const request = { headers: { 'accept-encoding': 'identity' }, signal };
    return await guardedRequest(overHttps(url, allowPrivateTargets()), request);
  } catch (error) {
    if (error instanceof TargetRefusedError)
      throw new FileUnavailableError('The file is not fetched from there.', 'final', error);
    throw new FileUnavailableError('The file server did not answer.', 'out-of-order', error);
  }
};

const faultOf = (status: number): FileFault => {
  if (NOT_YET.has(status)) return 'absent';
  return status >= 500 || BUSY.has(status) ? 'out-of-order' : 'final';
};

const decodedBody = ({ body, headers }: ExchangeResponse): Readable => {
  try {
    return decoded(body, headers['content-encoding']);
  } catch (error) {
    throw new FileUnavailableError('The file comes in an unknown encoding.', 'final', error);
  }
};

/** The bytes of a body, which is destroyed when its reader stops. Throws `FileUnavailableError` where it breaks off. */
const readable = async function* (body: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw new FileUnavailableError('The file broke off.', 'out-of-order', error);
  }
};
