import { Readable } from 'node:stream';
import type { ExchangeOptions, ExchangeResponse } from '../../../../core/http-exchange.ts';
import { world } from '../current.ts';

/** Stands in for the HTTP client: a request is answered by the world's upstreams, and no connection is opened. */
export const exchange = async (url: URL, options: ExchangeOptions): Promise<ExchangeResponse> => {
  const answer = await world()
    .http.request({
      url: String(url),
      method: options.method,
      headers: options.headers,
      body: options.body ?? '',
      signal: options.signal,
    })
    .catch((error: Error & { code?: string }) => {
      if (error.code !== 'ECONNREFUSED') options.onConnected?.();
      throw error;
    });
  options.onConnected?.();
  return { statusCode: answer.status, headers: answer.headers ?? {}, body: Readable.from([answer.bytes]) };
};
