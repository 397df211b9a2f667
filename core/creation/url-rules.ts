import { hostProblem, isBadPort } from '../guarded-http/target-rules.ts';

const MAX_URL_LENGTH = 2048;
/** Control characters, which URL parsers drop silently, and unpaired surrogates, which cannot be stored. */
const NOT_IN_URLS = /[\p{Cc}\p{Cs}]/u;
const LOOPBACK_HOSTS = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Why a caller's URL is refused, or undefined when it can be used. */
export const urlProblem = (url: string, allowLoopbackHttp: boolean): string | undefined => {
  if (url.length > MAX_URL_LENGTH) return `must be at most ${MAX_URL_LENGTH} characters`;
  if (!URL.canParse(url) || url.trim() !== url || NOT_IN_URLS.test(url))
    return 'must be an absolute https URL';
  const target = new URL(url);
  const { protocol, username, password, hostname } = target;
  if (username !== '' || password !== '') return 'must not carry user information';
  const loopback = allowLoopbackHttp && protocol === 'http:' && LOOPBACK_HOSTS.test(hostname);
  if (protocol !== 'https:' && !loopback) return 'must be an absolute https URL';
  return isBadPort(target) ? 'must not use the port of another protocol' : undefined;
};

/** Like `urlProblem`, for a webhook: also refuses a host that the service would never connect to. */
export const webhookUrlProblem = (url: string, allowPrivate: boolean): string | undefined =>
  urlProblem(url, allowPrivate) ?? hostProblem(new URL(url).hostname, allowPrivate);
