import { clipsOf, type StoredRequest } from '../requests/request-rules.ts';
import type { Instant } from '../time.ts';
import { loadUrlSigner } from './signed-urls.ts';

/**
 * The request with signed URLs of the copies as its reference videos: its provider gets the measured and
 * billed bytes, even if the caller's server has changed the file since. The URLs stop working at `expiresAt`.
 */
export const withClipUrls = async <Request extends StoredRequest>(
  request: Request,
  expiresAt: Instant,
): Promise<Request> => {
  const clips = clipsOf(request);
  if (clips.length === 0) return request;
  const sign = await loadUrlSigner();
  return { ...request, referenceVideos: clips.map((key) => sign(key, expiresAt)) };
};
