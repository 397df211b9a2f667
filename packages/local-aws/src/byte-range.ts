/** First and last byte to send, both included. */
export interface ByteRange {
  first: number;
  last: number;
}

/**
 * The bytes that a `Range` header asks for, out of `contentLength`. Undefined: send everything (no header, or not a single byte range).
 * `'unsatisfiable'`: the range lies outside.
 */
export const parseByteRange = (
  header: string | undefined,
  contentLength: number,
): ByteRange | 'unsatisfiable' | undefined => {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '');
  const [, from = '', to = ''] = match ?? [];
  if (from === '' && to === '') return undefined;
  if (from === '') {
    const count = Math.min(Number(to), contentLength);
    return count === 0 ? 'unsatisfiable' : { first: contentLength - count, last: contentLength - 1 };
  }
  const first = Number(from);
  const last = to === '' ? contentLength - 1 : Math.min(Number(to), contentLength - 1);
  if (to !== '' && Number(to) < first) return undefined;
  return first < contentLength ? { first, last } : 'unsatisfiable';
};

/** The bytes of `range` in a stream of the whole. */
export async function* sliceBytes(body: AsyncIterable<Buffer>, range: ByteRange): AsyncGenerator<Buffer> {
  let offset = 0;
  for await (const chunk of body) {
    const part = chunk.subarray(Math.max(0, range.first - offset), Math.max(0, range.last + 1 - offset));
    if (part.length > 0) yield part;
    offset += chunk.length;
    if (offset > range.last) return;
  }
}
