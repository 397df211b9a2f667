import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

import { decodeAwsChunked } from './aws-chunked.ts';

/** Headers S3 keeps with an object, besides `x-amz-meta-*`. */
const KEPT_HEADERS = new Set([
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-type',
  'expires',
]);

/** The headers of an upload that S3 keeps with the object and sends with every read; `aws-chunked` is no encoding of the object. */
export const keptHeaders = (headers: IncomingHttpHeaders): Record<string, string> => {
  const kept: Record<string, string> = { 'content-type': 'binary/octet-stream' };
  for (const [name, value] of Object.entries(headers)) {
    if (KEPT_HEADERS.has(name) || name.startsWith('x-amz-meta-')) kept[name] = String(value);
  }
  const encodings = kept['content-encoding']?.split(',').map((one) => one.trim()) ?? [];
  const encoding = encodings.filter((one) => one !== 'aws-chunked').join(',');
  delete kept['content-encoding'];
  return encoding === '' ? kept : { ...kept, 'content-encoding': encoding };
};

/** The object's bytes in an upload, without the framing that the SDK adds when it streams. */
export const uploadBody = (request: IncomingMessage): Readable => {
  if (!String(request.headers['x-amz-content-sha256'] ?? '').startsWith('STREAMING-')) return request;
  const decoder = decodeAwsChunked();
  request.on('error', (error) => decoder.destroy(error));
  request.on('close', () => request.readableEnded || decoder.destroy(new Error('upload ended early')));
  return request.pipe(decoder);
};
