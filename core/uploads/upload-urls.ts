import { createHash } from 'node:crypto';
import { UPLOAD_PREFIX } from '../object-keys.ts';
import { SECONDS_PER_DAY } from '../time.ts';

/** How long the URL of an upload works. The bucket's lifecycle removes the file within a day after. */
export const UPLOAD_LIFE_SECONDS = 2 * SECONDS_PER_DAY;

/** Stands for an account in the keys of its uploads. */
export const ownerOf = (accountId: string): string =>
  createHash('sha256').update(accountId).digest('base64url').slice(0, 22);

/**
 * Why an account cannot use this URL; undefined for its own uploads and for every URL that is not of an upload at `filesUrl`. Another
 * account's upload is refused, however its URL is written, and an own one that has expired.
 */
export const uploadProblem = (
  url: string,
  accountId: string,
  filesUrl: string,
  now: Date,
): string | undefined => {
  const target = URL.parse(url);
  const files = target && URL.parse(filesUrl);
  if (!files || hostOf(target) !== hostOf(files)) return undefined;
  const uploads = `${files.pathname.replace(/\/$/, '')}/${UPLOAD_PREFIX}`;
  const path = decoded(target.pathname);
  if (path === undefined || !path.startsWith(uploads)) return undefined;
  if (path.slice(uploads.length).split('/', 1)[0] !== ownerOf(accountId))
    return 'is an upload of another account';
  const expires = Number(target.searchParams.get('Expires'));
  return expires * 1000 <= now.getTime() ? 'is an upload that has expired' : undefined;
};

/** The host with its port, without the dot that may end a name. */
const hostOf = ({ hostname, port }: URL): string => `${hostname.replace(/\.$/, '')}:${port}`;

/** A path as S3 reads it, slashes once; undefined when its escapes are broken: then no object has it. */
const decoded = (path: string): string | undefined => {
  try {
    return decodeURIComponent(path).replace(/\/{2,}/g, '/');
  } catch {
    return undefined;
  }
};
