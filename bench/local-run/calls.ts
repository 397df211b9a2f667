import { Agent, request } from 'node:http';

const agent = new Agent({ keepAlive: true, maxSockets: 1_000 });

/** Sends a call over a kept connection; `body` makes it a POST. Returns the milliseconds until its answer. Throws unless the status is the expected one. */
export const expectCall = (expected: number, url: string, apiKey: string, body?: unknown): Promise<number> =>
  new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const text = body === undefined ? undefined : JSON.stringify(body);
    const sent = request(url, {
      agent,
      method: text === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(text !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
        }),
      },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const { statusCode: status } = response;
        if (status === expected) resolve(performance.now() - startedAt);
        else reject(new Error(`${url}: ${status} ${Buffer.concat(chunks)}`));
      });
    });
    sent.end(text);
  });

/**
 * Runs `work` in a loop for each of `callers` parallel callers, for `milliseconds`. Returns the number of finished
 * runs a second.
 */
export const perSecond = async (
  callers: number,
  milliseconds: number,
  work: (caller: number) => Promise<unknown>,
): Promise<number> => {
  const startedAt = performance.now();
  let count = 0;
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      for (; performance.now() - startedAt < milliseconds; count++) await work(caller);
    }),
  );
  return (count * 1_000) / (performance.now() - startedAt);
};
