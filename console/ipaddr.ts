/**
 * Stands for `ipaddr.js` in the browser, which would be a fifteenth of the console's script. Knows what the rules for callers' URLs ask:
 * addresses as `URL.hostname` spells them, and the ranges that these rules tell apart. A test compares both.
 */
const UNICAST = 'unicast';
const V4_RANGES = {
  loopback: '127.0.0.0/8',
  private: '10.0.0.0/8 172.16.0.0/12 192.168.0.0/16',
  special:
    '0.0.0.0/8 224.0.0.0/3 169.254.0.0/16 100.64.0.0/10 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 192.175.48.0/24 192.31.196.0/24 192.52.193.0/24',
};
const V6_RANGES = {
  loopback: '::1/128',
  uniqueLocal: 'fc00::/7',
  special:
    '::/8 fe80::/9 ff00::/8 100::/64 2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20 5f00::/16',
};

const bitsOf = (parts: readonly number[], width: number): string =>
  parts.map((part) => part.toString(2).padStart(width, '0')).join('');

const readV4 = (text: string): string | undefined => {
  const isRight = /^(0|[1-9]\d{0,2})(\.(0|[1-9]\d{0,2})){3}$/.test(text);
  const parts = text.split('.').map(Number);
  return isRight && parts.every((part) => part < 256) ? bitsOf(parts, 8) : undefined;
};

const readGroups = (text: string): number[] | undefined => {
  const groups = text === '' ? [] : text.split(':');
  return groups.every((group) => /^[\da-f]{1,4}$/i.test(group))
    ? groups.map((group) => Number.parseInt(group, 16))
    : undefined;
};

const V6_GROUPS = 8;
const readV6 = (text: string): string | undefined => {
  const [head = '', tail, ...more] = text.split('::');
  const [first, last] = [readGroups(head), readGroups(tail ?? '')];
  if (!first || !last || more.length > 0) return undefined;
  const missing = V6_GROUPS - first.length - last.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  return bitsOf([...first, ...Array<number>(missing).fill(0), ...last], 16);
};

type Cidr = [address: Address, bits: number];

class Address {
  readonly bits: string;
  readonly #ranges: Readonly<Record<string, string>>;
  constructor(bits: string, ranges: Readonly<Record<string, string>>) {
    this.bits = bits;
    this.#ranges = ranges;
  }
  match([{ bits }, length]: Cidr): boolean {
    return this.bits.slice(0, length) === bits.slice(0, length);
  }
  range(): string {
    const has = ([, list]: [string, string]): boolean =>
      list.split(' ').some((text) => this.match(parseCidr(text)));
    return Object.entries(this.#ranges).find(has)?.[0] ?? UNICAST;
  }
}

class IPv6 extends Address {
  static isValid = (text: string): boolean => readV6(text) !== undefined;
  static parseCIDR = (text: string): Cidr => parseCidr(text);
}

const parse = (text: string): Address => {
  const v4 = readV4(text);
  return v4 === undefined ? new IPv6(readV6(text) ?? '', V6_RANGES) : new Address(v4, V4_RANGES);
};

const V4_MAPPED = '::ffff:0:0/96';
const V4_BITS = 32;
/** The address, or the IPv4 address that an IPv6 address stands for. */
const process = (text: string): Address => {
  const address = parse(text);
  const isMapped = text.includes(':') && address.match(parseCidr(V4_MAPPED));
  return isMapped ? new Address(address.bits.slice(-V4_BITS), V4_RANGES) : address;
};

const parseCidr = (text: string): Cidr => {
  const [address = '', length] = text.split('/');
  return [parse(address), Number(length)];
};

const isValidFourPartDecimal = (text: string): boolean => readV4(text) !== undefined;

export default { parse, process, IPv4: { isValidFourPartDecimal }, IPv6 };
