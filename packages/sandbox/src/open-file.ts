import { type LookupAddress, lookup } from 'node:dns';
import { get as getHttp, type IncomingMessage } from 'node:http';
import { get as getHttps } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Subnets, as an address and the bits of its prefix. */
const listOf = (subnets: readonly string[]): BlockList => {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [address = '', bits] = subnet.split('/');
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
};

const LOOPBACK = listOf(['127.0.0.0/8', '::1/128']);
const PRIVATE = listOf(['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']);
/** What no file is at: this network, link-local and metadata, multicast, reserved, translated (RFC 6890). */
const NEVER = listOf([
  '0.0.0.0/8',
  '100.64.0.0/10',
  '169.254.0.0/16',
  '192.0.0.0/24',
  '198.18.0.0/15',
  '224.0.0.0/3',
  '::/128',
  '64:ff9b::/96',
  '2002::/16',
  'fd00:ec2::/32',
  'fe80::/10',
  'ff00::/8',
]);

const isIn = (list: BlockList, address: string): boolean =>
  list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** Time to connect to one of several addresses. Node's own 250 ms are too few for a distant host. */
const ADDRESS_LIMIT_MS = 2_500;

/** `allowPrivate`: whether files are also fetched from this machine and private networks. Default true. */
export type OpenFileOptions = { allowPrivate?: boolean | undefined };

/** Whether a file may be fetched from an address: over plain `http:` from this machine only. */
export const isFetched = (
  address: string,
  protocol: string,
  { allowPrivate = true }: OpenFileOptions,
): boolean => {
  if (isIP(address) === 0 || isIn(NEVER, address)) return false;
  const isLoopback = isIn(LOOPBACK, address);
  if (protocol === 'http:') return allowPrivate && isLoopback;
  return allowPrivate || !(isLoopback || isIn(PRIVATE, address));
};

/**
 * Opens the file at a URL of a caller's. Checks its address inside the connection's own look-up, and follows no redirect. Rejects when there is no
 * answer, and for an address that `isFetched` refuses.
 */
export const openFile = (url: URL, signal: AbortSignal, options: OpenFileOptions): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const refuse = () => new Error(`No file is fetched from ${url.hostname}.`);
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
    // Node.js looks up no address.
    if (isIP(host) !== 0 && !isFetched(host, url.protocol, options)) return reject(refuse());
    const guarded: LookupFunction = (hostname, given, done) =>
      lookup(hostname, { ...given, all: true }, (error, addresses: LookupAddress[] = []) => {
        const [first] = addresses;
        if (error) return done(error, []);
        if (!first || !addresses.every(({ address }) => isFetched(address, url.protocol, options)))
          return done(refuse(), []);
        return given.all ? done(null, addresses) : done(null, first.address, first.family);
      });
    const get = url.protocol === 'https:' ? getHttps : getHttp;
    // Node's types of a request lack the options of its connection.
    const connection = { lookup: guarded, autoSelectFamilyAttemptTimeout: ADDRESS_LIMIT_MS };
    get(url, { ...connection, signal, agent: false }, resolve).on('error', reject);
  });
