import { createRequire } from 'node:module';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  hostProblem,
  isAllowedAddress,
  overHttps,
  refusalOf,
} from '../../../../core/guarded-http/target-rules.ts';
import { LOCAL_ADDRESSES, PUBLIC_ADDRESSES, REFUSED_ADDRESSES } from '../../builders/hostile-targets.ts';

const asHost = (address: string) => (address.includes(':') ? `[${address}]` : address);

describe('an address', () => {
  test.each(PUBLIC_ADDRESSES)('%s is public', (address) => {
    expect(isAllowedAddress(address, 'https:', false)).toBe(true);
    expect(isAllowedAddress(address, 'https:', true)).toBe(true);
  });

  test.each(LOCAL_ADDRESSES)('%s is called in local runs only', (address) => {
    expect(isAllowedAddress(address, 'https:', false)).toBe(false);
    expect(isAllowedAddress(address, 'https:', true)).toBe(true);
  });

  test.each(REFUSED_ADDRESSES)('%s is never called', (address) => {
    expect(isAllowedAddress(address, 'https:', false)).toBe(false);
    expect(isAllowedAddress(address, 'https:', true)).toBe(false);
    expect(isAllowedAddress(address, 'http:', true)).toBe(false);
  });

  test.each([
    ['127.0.0.1', true],
    ['127.1.2.3', true],
    ['::1', true],
    ['10.0.0.1', false],
    ['fd12::1', false],
    ['93.184.215.14', false],
    ['2606:4700::1111', false],
  ])('%s over plain http is called: %p', (address, allowed) => {
    expect(isAllowedAddress(address, 'http:', true)).toBe(allowed);
    expect(isAllowedAddress(address, 'http:', false)).toBe(false);
  });

  test.each(['ftp:', 'ws:', 'file:'])('of no kind is called over %s', (protocol) => {
    for (const address of [...PUBLIC_ADDRESSES, ...LOCAL_ADDRESSES])
      expect(isAllowedAddress(address, protocol, true)).toBe(false);
  });

  test('of IPv6 is public only within 2000::/3', () => {
    const group = fc.integer({ min: 0, max: 0xffff });

    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const address = groups.map((part) => part.toString(16)).join(':');
        const outside = ((groups[0] ?? 0) & 0xe000) !== 0x2000;

        if (outside) expect(isAllowedAddress(address, 'https:', false)).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    '',
    'example.com',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '8.8.8.8%eth0',
    '2606:4700::1111%eth0',
    '8.8.8.8 ',
  ])('%p is none', (text) => {
    expect(isAllowedAddress(text, 'https:', true)).toBe(false);
  });
});

describe('a URL', () => {
  test.each([
    'https://example.com/',
    'https://example.com:8443/a?b#c',
    'https://93.184.215.14/',
    'https://[2606:4700::1111]/',
    'https://10.0.0.1/',
    'https://localhost/',
  ])('%s is not refused before it is dialled', (url) => {
    expect(refusalOf(new URL(url), false)).toBeUndefined();
  });

  test.each([
    ['http://example.com/', 'protocol'],
    ['ftp://example.com/', 'protocol'],
    ['file:///etc/passwd', 'protocol'],
    ['data:text/plain,a', 'protocol'],
    ['javascript:alert(1)', 'protocol'],
    ['ws://example.com/', 'protocol'],
    ['https://me@example.com/', 'user-info'],
    ['https://:secret@example.com/', 'user-info'],
    ['https://example.com@10.0.0.1/', 'user-info'],
    ['https://example.com:0/', 'port'],
    ['https://example.com:22/', 'port'],
    ['https://example.com:25/', 'port'],
    ['https://example.com:10080/', 'port'],
  ])('%s is refused for its %s', (url, reason) => {
    expect(refusalOf(new URL(url), false)).toBe(reason);
  });

  test('is refused on every bad port that undici knows, and on 0', () => {
    const { badPorts } = createRequire(import.meta.url)('undici/lib/web/fetch/constants.js');
    const refused = Array.from({ length: 65_536 }, (_, port) => port).filter((port) => {
      return refusalOf(new URL(`https://example.com:${port}/`), false) === 'port';
    });

    expect(refused.map(String)).toEqual(['0', ...badPorts]);
  });

  test('of the own machine is called over plain http in local runs only', () => {
    const url = new URL('http://127.0.0.1:3000/');

    expect(refusalOf(url, true)).toBeUndefined();
    expect(refusalOf(new URL('http://localhost:3000/'), true)).toBeUndefined();
    expect(refusalOf(url, false)).toBe('protocol');
    expect(refusalOf(new URL('ftp://127.0.0.1:3000/'), true)).toBe('protocol');
  });
});

describe('a result URL of a provider', () => {
  test.each([
    [
      'http://files.example.com/a.mp4?Signature=b%2F+c#d',
      'https://files.example.com/a.mp4?Signature=b%2F+c#d',
    ],
    ['http://files.example.com:80/a', 'https://files.example.com/a'],
    ['HTTP://files.example.com/a', 'https://files.example.com/a'],
    ['http://127.0.0.1/a', 'https://127.0.0.1/a'],
    ['https://files.example.com/a', 'https://files.example.com/a'],
    ['http://files.example.com:8080/a', 'http://files.example.com:8080/a'],
    ['ftp://files.example.com/a', 'ftp://files.example.com/a'],
    ['no url', 'no url'],
  ])('%s is fetched as %s', (url, fetched) => {
    expect(overHttps(url, false)).toBe(fetched);
  });

  test.each(['http://127.0.0.1/a', 'http://[::1]/a', 'http://localhost/a', 'http://127.0.0.1:4000/a'])(
    'of the own machine is fetched as it is in a local run: %s',
    (url) => {
      expect(overHttps(url, true)).toBe(url);
      expect(overHttps('http://files.example.com/a', true)).toBe('https://files.example.com/a');
    },
  );
});

describe('the host of a URL given by a caller', () => {
  const PROBLEM = 'must lead to a public address';

  test.each([...REFUSED_ADDRESSES, ...LOCAL_ADDRESSES].filter((address) => !address.includes('%')))(
    'is refused when it is %s',
    (address) => {
      expect(hostProblem(asHost(address), false)).toBe(PROBLEM);
    },
  );

  test.each(['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'a.b.localhost.'])(
    'is refused when it is %s',
    (hostname) => {
      expect(hostProblem(hostname, false)).toBe(PROBLEM);
      expect(hostProblem(hostname, true)).toBeUndefined();
    },
  );

  test.each([
    'example.com',
    'localhost.com',
    'mylocalhost',
    '93.184.215.14',
    '[2606:4700::1111]',
    '10.0.0.1.nip.io',
  ])('is fine when it is %s', (hostname) => {
    expect(hostProblem(hostname, false)).toBeUndefined();
  });

  test.each(LOCAL_ADDRESSES)('may be %s in local runs', (address) => {
    expect(hostProblem(asHost(address), true)).toBeUndefined();
  });
});
