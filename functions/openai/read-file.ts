import { exchange } from '../../core/http-exchange.ts';

/** Longest wait for the whole file: an answer has to be made in time. */
const READ_MS = 5_000;

/** A stored file that could not be read by its URL. */
class FileUnreadableError extends Error {
  override name = 'FileUnreadableError';
}

/**
 * The bytes of a stored file, in base64. Reads it by its signed URL, as callers do: no function has a right to read outputs. Throws
 * when it does not come whole.
 */
export const readFileAsBase64 = async (signedUrl: string): Promise<string> => {
  const { statusCode, body } = await exchange(new URL(signedUrl), {
    method: 'GET',
    headers: { 'accept-encoding': 'identity' },
    signal: AbortSignal.timeout(READ_MS),
  });
  if (statusCode !== 200) {
    body.destroy();
    throw new FileUnreadableError(`The file server answered ${statusCode}.`);
  }
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('base64');
};
