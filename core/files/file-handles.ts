import { requiredEnv } from '../environment.ts';
import { isThisMachine } from '../guarded-http/target-rules.ts';
import { requestKindOf } from '../ids.ts';
import { OUTPUT_PREFIX, UPLOAD_PREFIX } from '../object-keys.ts';

/**
 * A file of this service that a creation names as input. Its handle is the object key: the file's URL at any of our addresses, without
 * address and signature. Records hold the handle; a URL is made from the handle when it is needed.
 */
export type FileHandle = { extension: string } & (
  | { of: 'upload'; owner: string; uploadId: string }
  | { of: 'output'; requestId: string; objectKey: string }
);

const UPLOAD = /^([\w-]+)\/(upl_[0-7][0-9A-HJKMNP-TV-Z]{25})\.([a-z0-9]+)$/;
const OUTPUT = /^([a-z]+_[0-9A-Z]+)\/\d+\.([a-z0-9]+)$/;

/** The file of a handle; undefined for other texts, keys of files that are no inputs included. */
export const parseHandle = (text: string): FileHandle | undefined => {
  if (text.startsWith(UPLOAD_PREFIX)) {
    const [, owner, uploadId, extension] = UPLOAD.exec(text.slice(UPLOAD_PREFIX.length)) ?? [];
    return owner && uploadId && extension ? { of: 'upload', owner, uploadId, extension } : undefined;
  }
  if (!text.startsWith(OUTPUT_PREFIX)) return undefined;
  const [, requestId, extension] = OUTPUT.exec(text.slice(OUTPUT_PREFIX.length)) ?? [];
  return requestId && extension && requestKindOf(requestId)
    ? { of: 'output', requestId, objectKey: text, extension }
    : undefined;
};

/** The URL of a stored file, without a signature. It serves nothing, and names the file as an input. */
export const fileUrl = (objectKey: string): string => `${filesUrl()}/${objectKey}`;

/**
 * The handle of a URL at an address of our files, with or without a signature, however the URL is written; any other URL as it is. A URL at
 * our address that leads to no input stays a URL too: `isOwnAddress`.
 */
export const toHandle = (url: string): string => {
  const key = ownKey(url);
  return key !== undefined && parseHandle(key) ? key : url;
};

/** Whether a URL leads to an address of our files. */
export const isOwnAddress = (url: string): boolean => ownKey(url) !== undefined;

const filesUrl = (): string => requiredEnv('FILE_DELIVERY_BASE_URL').replace(/\/$/, '');

/** The addresses of our files: the one in our URLs, and the distribution's own. */
const ownUrls = (): URL[] => {
  const domain = process.env.FILE_DELIVERY_DOMAIN;
  const addresses = [filesUrl(), ...(domain ? [`https://${domain}`] : [])];
  return addresses.flatMap((address) => URL.parse(address) ?? []);
};

/** The object key in a URL at one of our addresses, escapes read and slashes once, as S3 has it; undefined for other URLs. */
const ownKey = (url: string): string | undefined => {
  const target = URL.parse(url);
  if (!target) return undefined;
  for (const own of ownUrls()) {
    if (hostOf(target) !== hostOf(own)) continue;
    const folder = `${own.pathname.replace(/\/$/, '')}/`;
    const path = decoded(target.pathname);
    // A broken escape is no key of ours, and still our address.
    if (path === undefined) return '';
    if (path.startsWith(folder)) return path.slice(folder.length);
  }
  return undefined;
};

/** The host with its port, without a final dot of the name. All names of this machine read as `localhost`. */
const hostOf = ({ hostname, port, protocol }: URL): string => {
  const name = isThisMachine(hostname) ? 'localhost' : hostname.replace(/\.$/, '');
  return `${name}:${port || (protocol === 'http:' ? '80' : '443')}`;
};

const decoded = (path: string): string | undefined => {
  try {
    return decodeURIComponent(path).replace(/\/{2,}/g, '/');
  } catch {
    return undefined;
  }
};
