import { ConnectionError, UploadError } from './errors.ts';
import type { CallOptions } from './http.ts';
import { abortedBy } from './sleep.ts';
import type { Upload } from './types.ts';

type FileField = 'references' | 'image' | 'lastFrame' | 'referenceImages' | 'referenceVideos';

/** A creation whose references, frames and clips may be files as well as URLs. The client uploads the files. */
export type WithFiles<New> = {
  [Field in keyof New]: Field extends FileField
    ? New[Field] extends readonly string[] | undefined
      ? readonly (string | Blob)[] | Extract<New[Field], undefined>
      : New[Field] | Blob
    : New[Field];
};

/** The creation with the URLs of its files. Uploads them side by side. */
export const withUrls = async (
  creation: object,
  upload: (file: Blob) => Promise<{ url: string }>,
): Promise<object> => {
  const urlOf = async (value: unknown): Promise<unknown> =>
    value instanceof Blob ? (await upload(value)).url : value;
  const fields = Object.entries(creation).map(async ([name, value]) => [
    name,
    await (Array.isArray(value) ? Promise.all(value.map(urlOf)) : urlOf(value)),
  ]);
  return Object.fromEntries(await Promise.all(fields));
};

/** Sends a file by the form of its upload. Throws `UploadError` when it is refused, `ConnectionError` and `AbortedError`. */
export const sendFile = async (
  file: Blob,
  { upload: { url, fields } }: Upload,
  fetch: typeof globalThis.fetch,
  { signal }: CallOptions,
): Promise<void> => {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  body.append('file', file);
  try {
    const response = await fetch(url, { method: 'POST', body, signal });
    const answer = await response.text();
    if (!response.ok) throw new UploadError(`${response.status}: ${answer}`);
  } catch (error) {
    if (signal?.aborted) throw abortedBy(signal);
    if (error instanceof UploadError) throw error;
    throw new ConnectionError(`The file could not be sent: POST ${url}`, { cause: error });
  }
};
