import { readFileSync } from 'node:fs';
import { isIP as inTheService } from 'node:net';
import { beforeAll, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import standIn from '../../../console/ipaddr.ts';

type Rules = typeof import('../../../core/guarded-http/target-rules.ts');
let [service, browser] = [] as unknown as [Rules, Rules];
beforeAll(async () => {
  service = await import('../../../core/guarded-http/target-rules.ts');
  jest.resetModules();
  jest.unstable_mockModule('ipaddr.js', () => import('../../../console/ipaddr.ts'));
  jest.unstable_mockModule('node:net', () => import('../../../console/node-net.ts'));
  browser = await import('../../../core/guarded-http/target-rules.ts');
});

/** Every range that the library knows, as text. */
const ranges = [ipaddr.IPv4, ipaddr.IPv6].flatMap((kind) => {
  const known = (kind.prototype as unknown as { SpecialRanges: Record<string, unknown> }).SpecialRanges;
  return Object.values(known).flatMap((range) =>
    (Array.isArray((range as unknown[])[0]) ? (range as unknown[]) : [range]).map(
      (one) => one as [ipaddr.IPv4, number],
    ),
  );
});

/** The first and the last address of a range, and those just outside. */
const edgesOf = ([address, length]: [ipaddr.IPv4 | ipaddr.IPv6, number]): string[] => {
  const bytes = address.toByteArray();
  const size = BigInt(bytes.length * 8);
  const first = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  const last = first + (1n << (size - BigInt(length))) - 1n;
  const textOf = (value: bigint): string =>
    ipaddr
      .fromByteArray(bytes.map((_, index) => Number((value >> (size - 8n * BigInt(index + 1))) & 255n)))
      .toString();
  return [first - 1n, first, last, last + 1n].filter((one) => one >= 0n && one < 1n << size).map(textOf);
};

/** A host as `URL.hostname` spells it, without brackets. */
const asHost = (text: string): string =>
  new URL(`https://${text.includes(':') ? `[${text}]` : text}/`).hostname.replace(/^\[(.*)\]$/, '$1');

const expectSame = (address: string) => {
  expect([address, browser.isThisMachine(address)]).toEqual([address, service.isThisMachine(address)]);
  const url = `http://${address.includes(':') ? `[${address}]` : address}/`;
  for (const isPrivate of [false, true]) {
    expect([address, browser.overHttps(url, isPrivate)]).toEqual([
      address,
      service.overHttps(url, isPrivate),
    ]);
    expect([address, browser.hostProblem(address, isPrivate)]).toEqual([
      address,
      service.hostProblem(address, isPrivate),
    ]);
  }
};

test(`the browser judges the edges of all ranges as the service does: ${ranges.length}`, () => {
  expect(ranges.length).toBeGreaterThan(40);
  expect(browser.hostProblem).not.toBe(service.hostProblem);
  for (const address of ranges.flatMap(edgesOf).map(asHost)) {
    expect(inTheService(address)).toBeGreaterThan(0);
    expectSame(address);
  }
});

test('the browser judges any address as the service does', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => expectSame(asHost(address))),
    { numRuns: 300 },
  );
});

test.each([
  'localhost',
  'example.com',
  '1.2.3',
  '1.2.3.256',
  '01.2.3.4',
  ':::',
  '1::2::3',
  'g::1',
  '::1',
  '1:2:3:4:5:6:7:8',
  '1:2:3:4:5:6:7',
])('a host is an address or none, as for the service: %s', (host) => {
  expectSame(host);
});

test('the browser has every part of the library that the rules name', () => {
  const rules = readFileSync(new URL('../../../core/guarded-http/target-rules.ts', import.meta.url), 'utf8');
  const named = [...rules.matchAll(/ipaddr\.(\w+)(?:\.(\w+))?/g)].map(([, first = '', second]) => [
    first,
    second,
  ]);
  const partOf = (held: unknown, name: string): unknown =>
    (held as Record<string, unknown> | undefined)?.[name];

  expect(named.length).toBeGreaterThan(3);
  for (const [first = '', second] of named.filter(([name]) => name !== 'js')) {
    const part = partOf(standIn, first);
    expect([first, second, typeof (second === undefined ? part : partOf(part, second))]).toEqual([
      first,
      second,
      'function',
    ]);
  }
});
