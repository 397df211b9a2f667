import { AbortedError, DownloadError, ExpiredError } from './errors.ts';
import { abortedBy } from './sleep.ts';
import type { ImageItem, VideoItem } from './types.ts';

/** A file under way. Read it once, by one of the two. */
export interface Download {
  contentType: string;
  /** Bytes of the whole file; undefined when the sender does not say. */
  size: number | undefined;
  /** Errors with `DownloadError` when fewer or more bytes come than announced. */
  stream: ReadableStream<Uint8Array>;
  /** All of it in memory. Throws `DownloadError` and `AbortedError`. */
  bytes(): Promise<Uint8Array>;
}

type Items = readonly { id: string; url?: string }[];

/** The file of an item. `read` reads its record anew, when the URL is refused. Throws as `GenerationClient.download`. */
export const openItem = async (
  item: ImageItem | VideoItem,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal | undefined,
  read: () => Promise<{ images?: Items; videos?: Items }>,
): Promise<Download> => {
  const { id, expiresAt } = item;
  if (!('url' in item)) throw new DownloadError(`The output ${id} could not be stored.`);
  const opened = await openFile(item.url, fetch, signal);
  if (opened) return opened;
  const { images, videos = [] } = Date.parse(expiresAt) > Date.now() ? await read() : {};
  const fresh = (images ?? videos).find((one) => one.id === id)?.url;
  if (!fresh) throw new ExpiredError(`The file of ${id} is gone.`);
  const again = await openFile(fresh, fetch, signal);
  if (!again) throw new DownloadError(`The file of ${id} is refused.`);
  return again;
};

/** The answer of a file's server; undefined when it refuses the URL. Sends no header of ours: the URL is the credential. */
const openFile = async (
  url: string,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal | undefined,
): Promise<Download | undefined> => {
  let response: Response;
  try {
    response = await fetch(url, { signal });
  } catch (error) {
    throw failureOf(error, signal);
  }
  const { ok, status, headers, body } = response;
  if (!ok || !body) {
    await body?.cancel();
    if (status === 403) return undefined;
    throw new DownloadError(`The file's server answered ${status}.`);
  }
  const announced = headers.get('content-length');
  // Of a compressed answer it is the length before it is unpacked.
  const size = announced === null || headers.has('content-encoding') ? undefined : Number(announced);
  const stream = counted(body, size, signal);
  return {
    contentType: headers.get('content-type') ?? 'application/octet-stream',
    size,
    stream,
    bytes: () => allOf(stream),
  };
};

const failureOf = (error: unknown, signal: AbortSignal | undefined): DownloadError | AbortedError => {
  if (error instanceof DownloadError || error instanceof AbortedError) return error;
  return signal?.aborted
    ? abortedBy(signal)
    : new DownloadError('The file could not be fetched.', { cause: error });
};

/** The stream, which fails unless exactly `size` bytes come. */
const counted = (
  body: ReadableStream<Uint8Array>,
  size: number | undefined,
  signal: AbortSignal | undefined,
): ReadableStream<Uint8Array> => {
  const reader = body.getReader();
  let received = 0;
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        received += value?.length ?? 0;
        const isWrong = size !== undefined && (done ? received !== size : received > size);
        if (isWrong) throw new DownloadError(`The file has ${size} bytes; ${received} came.`);
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        await reader.cancel(error).catch(() => undefined);
        throw failureOf(error, signal);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
};

const allOf = async (stream: ReadableStream<Uint8Array>): Promise<Uint8Array> => {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(chunks).arrayBuffer());
    chunks.push(value as Uint8Array<ArrayBuffer>);
  }
};
