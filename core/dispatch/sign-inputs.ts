import { parseHandle } from '../files/file-handles.ts';
import { loadUrlSigner } from '../files/signed-urls.ts';
import { inputFilesOf, withInputFiles } from '../requests/input-files.ts';
import { clipsOf, type StoredRequest } from '../requests/request-rules.ts';
import { addSeconds, type Instant } from '../time.ts';

/** Seconds after the deadline in which inputs can be fetched, because a provider's clock may differ. */
const SLACK_SECONDS = 300;

/**
 * The request as the provider gets it. Named files of ours have signed URLs. Reference videos are replaced by signed URLs of
 * their copies, so that the provider works on the measured and billed bytes, even if the caller's server has changed the file
 * since. The URLs stop working some minutes after the deadline, or when the first of the files expires.
 */
export const withSignedInputs = async <Request extends StoredRequest>(
  request: Request,
  deadline: Instant,
): Promise<Request> => {
  const clips = clipsOf(request);
  const isOwn = (url: string): boolean => parseHandle(url) !== undefined;
  if (clips.length === 0 && !inputFilesOf(request).some(({ url }) => isOwn(url))) return request;
  const sign = await loadUrlSigner();
  const until = addSeconds(deadline, SLACK_SECONDS);
  const { inputsExpireAt = until } = request;
  const ownUntil = inputsExpireAt < until ? inputsExpireAt : until;
  const signed = withInputFiles(request, (url) => (isOwn(url) ? sign(url, ownUntil) : url));
  return clips.length === 0 ? signed : { ...signed, referenceVideos: clips.map((key) => sign(key, until)) };
};
