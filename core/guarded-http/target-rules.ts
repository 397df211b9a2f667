import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Why a URL is refused: the part of it to change. */
export type RefusalReason = 'url' | 'protocol' | 'user-info' | 'port' | 'address';

/**
 * Ports of other protocols, whose servers might take a request for a command: the "bad ports" of the Fetch
 * Standard (https://fetch.spec.whatwg.org/#port-blocking), which include 0.
 */
const BAD_PORTS = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080,
]);

/** The part of IPv6 that IANA allocates to networks; `ipaddr.js` counts more as unicast (RFC 4291, 2.4). */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** AWS instance metadata, time and DNS on IPv6, inside the unique local range. */
const AWS_LOCAL_IPV6 = ipaddr.IPv6.parseCIDR('fd00:ec2::/32');
/** Ranges a local run may call besides public addresses. */
const LOCAL_RANGES = new Set(['loopback', 'private', 'uniqueLocal']);

/**
 * Whether to connect over `https:` or `http:` to an address as a resolver returns it. Public unicast is
 * allowed, and with `allowPrivate` also loopback and private ranges. Plain `http:` is allowed to loopback
 * only. Link-local, metadata, multicast, reserved, mapped and translated addresses are never allowed.
 */
export const isAllowedAddress = (address: string, protocol: string, allowPrivate: boolean): boolean => {
  // Public addresses have no zone, and resolvers return no shorthands.
  if (isIP(address) === 0 || address.includes('%')) return false;
  const parsed = ipaddr.parse(address);
  const range = parsed.range();
  if (protocol !== 'https:') return protocol === 'http:' && allowPrivate && range === 'loopback';
  if (parsed instanceof ipaddr.IPv6) {
    if (allowPrivate && LOCAL_RANGES.has(range)) return !parsed.match(AWS_LOCAL_IPV6);
    return range === 'unicast' && parsed.match(GLOBAL_IPV6);
  }
  return range === 'unicast' || (allowPrivate && LOCAL_RANGES.has(range));
};

/** Why this URL is refused, host aside; the host is checked on connect. Undefined when it is not refused. */
export const refusalOf = (url: URL, allowPrivate: boolean): RefusalReason | undefined => {
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && allowPrivate)) return 'protocol';
  if (url.username !== '' || url.password !== '') return 'user-info';
  return isBadPort(url) ? 'port' : undefined;
};

/**
 * Changes an `http:` URL to `https:`. Keeps a URL with an explicit port, where the server would not speak
 * TLS, and any other protocol. With `allowPrivate`, keeps hosts that a local run calls over `http:`.
 */
export const overHttps = (url: string, allowPrivate: boolean): string => {
  const target = URL.parse(url);
  if (target?.protocol !== 'http:' || target.port !== '') return url;
  if (allowPrivate && isLoopback(target.hostname)) return url;
  target.protocol = 'https:';
  return target.href;
};

const isLoopback = (hostname: string): boolean =>
  isLocalhost(hostname) || isAllowedAddress(hostname.replace(/^\[(.*)\]$/, '$1'), 'http:', true);

/** Whether the host of a URL, as in `URL.hostname`, is a name or an address of this machine, also as IPv6 writes that of IPv4. */
export const isThisMachine = (hostname: string): boolean => {
  const host = bareHost(hostname);
  return isLocalhost(host) || (isIP(host) !== 0 && ipaddr.process(host).range() === 'loopback');
};

/** Whether no HTTP client may connect to the port of a URL, which is of another protocol. */
export const isBadPort = (url: URL): boolean => url.port !== '' && BAD_PORTS.has(Number(url.port));

/**
 * Why the host of a caller's URL, as in `URL.hostname`, is refused: a message for its field, or undefined.
 * Checks only addresses and `localhost`; what a name resolves to is checked on connect.
 */
export const hostProblem = (hostname: string, allowPrivate: boolean): string | undefined => {
  const host = bareHost(hostname);
  const isRefused = isLocalhost(host)
    ? !allowPrivate
    : isIP(host) !== 0 && !isAllowedAddress(host, 'https:', allowPrivate);
  return isRefused ? 'must lead to a public address' : undefined;
};

/** A host without the brackets of an address, and without the dot that may end a name. */
const bareHost = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');

const isLocalhost = (host: string): boolean => /^(.*\.)?localhost$/i.test(host);
