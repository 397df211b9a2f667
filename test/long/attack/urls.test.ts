import '../../unit/builders/environment.ts';
import { type AddressInfo, createServer, Socket } from 'node:net';
import { afterAll, beforeEach, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { webhookUrlProblem } from '../../../core/creation/creation-fields.ts';
import { guardedRequest, type ResolveAll } from '../../../core/guarded-http/guarded-http.ts';
import { isAllowedAddress } from '../../../core/guarded-http/target-rules.ts';
import { HOSTILE_URLS, LOCAL_ADDRESSES, REFUSED_ADDRESSES } from '../../unit/builders/hostile-targets.ts';

const FORMS = 90_000;
const DIALS = 4_000;

const listener = createServer((socket) => socket.destroy());
await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
const { port } = listener.address() as AddressInfo;
afterAll(() => {
  listener.close();
});
/** Sockets tell of each address just before they dial it. */
const emit = jest.spyOn(Socket.prototype, 'emit');
beforeEach(() => {
  emit.mockClear();
});
const dialled = () => (emit.mock.calls as unknown[][]).filter(([event]) => event === 'connectionAttempt');

const v4 = (address: string) => ipaddr.IPv4.parse(address).octets;
const TARGETS = [...LOCAL_ADDRESSES, ...REFUSED_ADDRESSES].filter((address) => /^[\d.]+$/.test(address));

/** One of the spellings that some parser takes for an IPv4 address. */
const spelled = fc
  .tuple(
    fc.constantFrom(...TARGETS),
    fc.array(fc.constantFrom('dec', 'hex', 'oct', 'wide'), { minLength: 4, maxLength: 4 }),
    fc.nat(3),
    fc.nat(5),
  )
  .map(([address, styles, joined, wrapping]) => {
    const octets = v4(address);
    const kept = octets.slice(0, 3 - joined);
    const rest = octets.slice(3 - joined).reduce((sum, octet) => sum * 256 + octet, 0);
    const text = [...kept, rest]
      .map((part, index) => {
        const style = styles[index];
        if (style === 'hex') return `0x${part.toString(16)}`;
        if (style === 'oct') return `0${part.toString(8)}`;
        if (style === 'wide')
          return [...String(part)].map((digit) => String.fromCodePoint(0xff10 + Number(digit))).join('');
        return String(part);
      })
      .join('.');
    const host =
      [
        text,
        `${text}.`,
        `[::ffff:${address}]`,
        `[::${address}]`,
        `[64:ff9b::${address}]`,
        text.toUpperCase(),
      ][wrapping] ?? text;
    return `https://${host}:${port}/`;
  });

test(`none of ${FORMS} spellings of refused addresses passes as a webhook's URL`, () => {
  fc.assert(
    fc.property(spelled, (url) => {
      if (webhookUrlProblem(url, false) !== undefined) return;
      // A spelling that no parser takes for an address is a name: it is judged when it is dialled.
      const { hostname } = new URL(url);
      expect(ipaddr.isValid(hostname.replace(/^\[|\]$/g, ''))).toBe(false);
    }),
    { numRuns: FORMS },
  );
});

test(`none of ${DIALS} hostile URLs and resolvers is dialled`, async () => {
  const every = [...LOCAL_ADDRESSES, ...REFUSED_ADDRESSES];
  const answers = fc.array(fc.constantFrom(...every), { minLength: 1, maxLength: 3 });
  const urls = fc.oneof(
    spelled,
    fc.constantFrom(...HOSTILE_URLS),
    fc.constant(`https://name.example:${port}/`),
  );
  await fc.assert(
    fc.asyncProperty(urls, answers, async (url, addresses) => {
      const resolve: ResolveAll = (_name, _options, callback) =>
        process.nextTick(
          callback,
          null,
          addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
        );
      await expect(
        guardedRequest(url, { signal: AbortSignal.timeout(20_000) }, resolve),
      ).rejects.toMatchObject({
        name: 'TargetRefusedError',
      });
    }),
    { numRuns: DIALS },
  );
  expect(dialled()).toEqual([]);
});

test('no address outside public unicast is allowed, however it is written', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()), (address) => {
      if (!isAllowedAddress(address, 'https:', false)) return;
      const parsed = ipaddr.parse(address);
      expect(parsed.range()).toBe('unicast');
    }),
    { numRuns: 20_000 },
  );
});
