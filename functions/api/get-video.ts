import { findProviderWait } from '../../core/provider-calls/provider-waits.ts';
import type { ProviderRoute } from '../../core/provider-calls/providers.ts';
import { findRequest } from '../../core/requests/requests.ts';
import { catchUpOnRead } from '../../core/workflow/catch-up-on-read.ts';
import { recordReader } from '../http/record-reader.ts';

/** Loaded by the reads that ask: most do not, and the providers are most of the code. */
const providerRouteOf = async (model: string): Promise<ProviderRoute> =>
  (await import('../../providers/registry.ts')).providerRouteOf(model);

/**
 * GET /v1/videos/{requestId}. 200 with the record; 404 for what is not a video request of the caller's. A read
 * of an unfinished one asks the provider too, at most once in 10 s.
 */
export const handler = recordReader(
  'video',
  async (requestId) => {
    const [request, wait] = await Promise.all([findRequest(requestId), findProviderWait(requestId)]);
    return { request, wait };
  },
  (request, { wait }) => catchUpOnRead(request, wait, providerRouteOf),
);
