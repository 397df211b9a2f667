import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Why a URL is not called: each value is a thing its owner can change. */
export type RefusalReason = 'url' | 'protocol' | 'user-info' | 'port' | 'address';

/**
 * Ports on which no web server is expected but others answer to what they take for a command: the "bad ports"
 * of the Fetch Standard (https://fetch.spec.whatwg.org/#port-blocking), 0 among them.
 */
const BAD_PORTS = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080,
]);

/** All of IPv6 that IANA gives to networks; what lies outside only looks like unicast (RFC 4291, 2.4). */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** Where AWS keeps instance metadata, time and names on IPv6: a unique local range that is nobody's own. */
const AWS_LOCAL_IPV6 = ipaddr.IPv6.parseCIDR('fd00:ec2::/32');
/** What a local run may call beside the public internet. */
const LOCAL_RANGES = new Set(['loopback', 'private', 'uniqueLocal']);

/**
 * Whether a connection over `https:` or `http:` may go to an address, given as a resolver gives it: public
 * unicast, and with `allowPrivate` the own machine and network too. Plain `http:` goes to the own machine only.
 * Link-local, metadata, multicast, reserved, mapped and translated addresses are never allowed.
 */
export const isAllowedAddress = (address: string, protocol: string, allowPrivate: boolean): boolean => {
  // A zone belongs to no public address, and shorthands are no answer of a resolver.
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

/** Why a URL is never called, as far as it tells without its host, which is judged when it is dialled. */
export const refusalOf = (url: URL, allowPrivate: boolean): RefusalReason | undefined => {
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && allowPrivate)) return 'protocol';
  if (url.username !== '' || url.password !== '') return 'user-info';
  return url.port !== '' && BAD_PORTS.has(Number(url.port)) ? 'port' : undefined;
};

/**
 * What is wrong with the host of a URL given by a caller, as `URL.hostname` has it: a sentence for its field, or
 * undefined. Only addresses and `localhost` are judged here; what a name leads to is judged when it is dialled.
 */
export const hostProblem = (hostname: string, allowPrivate: boolean): string | undefined => {
  const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  const isRefused = isLocalhost(host)
    ? !allowPrivate
    : isIP(host) !== 0 && !isAllowedAddress(host, 'https:', allowPrivate);
  return isRefused ? 'must lead to a public address' : undefined;
};

const isLocalhost = (host: string): boolean => /^(.*\.)?localhost$/i.test(host);
