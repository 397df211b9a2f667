import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { checkCallback } from '../../../providers/callback-checks.ts';
import { checkFalCallback, falKeysUrl, forgetFalKeys } from '../../../providers/fal/webhooks.ts';
import { withEnvironment } from '../builders/environment.ts';
import { LoopbackServer } from '../servers/loopback-server.ts';

const server = await new LoopbackServer().start();
afterAll(() => server.close());

const [FIRST, SECOND, FOREIGN] = [1, 2, 3].map(() => generateKeyPairSync('ed25519')) as [Pair, Pair, Pair];
type Pair = { publicKey: KeyObject; privateKey: KeyObject };
const keysOf = (...pairs: Pair[]) => ({
  keys: [{ kty: 'RSA', n: 'x' }, ...pairs.map(({ publicKey }) => publicKey.export({ format: 'jwk' }))],
});
const publish = (...pairs: Pair[]) => server.answer(200, keysOf(...pairs));

const NOW = new Date('2026-11-24T00:00:00Z');
const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);
const BODY = { request_id: 'r-1', gateway_request_id: 'r-1', status: 'OK', error: null, payload: {} };

/** A callback as fal signs it, with some of its parts changed after that. */
const aCallback = ({
  by = FIRST,
  seconds = 0,
  requestId = 'r-1',
  userId = 'user-1',
  body = JSON.stringify(BODY),
  time = String(at(seconds).getTime() / 1000),
  change = {},
}: Partial<{
  by: Pair;
  seconds: number;
  time: string;
  requestId: string;
  userId: string;
  body: string;
  change: Record<string, string | undefined>;
}> = {}) => {
  const hash = createHash('sha256').update(body).digest('hex');
  const message = [requestId, userId, time, hash].join('\n');
  const { body: sent = body, ...headers } = change;
  const values: Record<string, string | undefined> = {
    'request-id': requestId,
    'user-id': userId,
    timestamp: time,
    signature: sign(null, Buffer.from(message), by.privateKey).toString('hex'),
    ...headers,
  };
  return {
    header: (name: string) => values[name.toLowerCase().replace('x-fal-webhook-', '')],
    body: Buffer.from(sent),
  };
};
const check = (sent: ReturnType<typeof aCallback>, seconds = 0) =>
  withEnvironment({ ALLOW_PRIVATE_TARGETS: 'true' }, () =>
    checkFalCallback(sent, server.url, at(seconds), new AbortController().signal),
  );

beforeEach(() => {
  forgetFalKeys();
  server.reset();
  publish(FIRST);
});

describe('a callback of fal', () => {
  test('signed by a published key is genuine, and its key is read once', async () => {
    expect(await check(aCallback())).toBe('genuine');
    expect(await check(aCallback({ seconds: 300 }))).toBe('genuine');

    expect(server.requests.map(({ method, path }) => [method, path])).toEqual([
      ['GET', '/.well-known/jwks.json'],
    ]);
  });

  test('is compared with every key', async () => {
    publish(SECOND, FIRST);

    expect(await check(aCallback())).toBe('genuine');
  });

  test('is genuine beside keys that cannot be read', async () => {
    const odd = [
      null,
      'text',
      {},
      { kty: 'OKP', crv: 'Ed25519', x: 7 },
      { kty: 'OKP', crv: 'Ed25519', x: 'short' },
    ];
    server.answer(200, { keys: [...odd, ...keysOf(FIRST).keys] });

    expect(await check(aCallback())).toBe('genuine');
    expect(await check(aCallback({ by: FOREIGN }))).toBe('forged');
  });

  test('cannot be checked by keys that cannot be read', async () => {
    server.answer(200, { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'short' }] });

    expect(await check(aCallback())).toBe('unknown');
  });

  test.each<[string, Parameters<typeof aCallback>[0]]>([
    ['has another body', { change: { body: JSON.stringify({ ...BODY, status: 'ERROR' }) } }],
    ['has another space in its body', { change: { body: `${JSON.stringify(BODY)} ` } }],
    ['names another user', { change: { 'user-id': 'user-2' } }],
    ['names another request in its header', { change: { 'request-id': 'r-2' } }],
    ['is signed for another request than its body names', { requestId: 'r-2' }],
    ['is older than five minutes', { seconds: -301 }],
    ['is from the future', { seconds: 301 }],
    ['has another time', { change: { timestamp: String(NOW.getTime() / 1000 + 1) } }],
    ['has no number for a time', { time: 'now' }],
    ['has no signature', { change: { signature: '' } }],
    ['has a signature that is too short', { change: { signature: 'ab' } }],
    ['has a signature of zeros', { change: { signature: '0'.repeat(128) } }],
    ['has no request', { change: { 'request-id': '' } }],
    ['is no JSON', { body: 'garbage' }],
    ['is signed by somebody else', { by: FOREIGN }],
    ['is signed for no user', { userId: '', change: { 'user-id': undefined } }],
    [
      'is signed for no request, neither in its header nor in its body',
      { requestId: '', body: 'garbage', change: { 'request-id': undefined } },
    ],
    ['has no time', { time: '', change: { timestamp: undefined } }],
  ])('that %s is forged', async (_, given) => {
    expect(await check(aCallback(given))).toBe('forged');
  });

  test('with more than a signature is forged, and is compared with no key', async () => {
    const { header, body } = aCallback();
    const more = (name: string) => (name.endsWith('signature') ? `${header(name)}zz` : header(name));

    expect(await check({ header: more, body })).toBe('forged');
    expect(server.requests).toEqual([]);
  });

  test('signed by a new key is genuine, once the keys are a minute old', async () => {
    expect(await check(aCallback())).toBe('genuine');
    publish(SECOND);

    expect(await check(aCallback({ by: SECOND }), 59)).toBe('forged');
    expect(await check(aCallback({ by: SECOND }), 60)).toBe('genuine');
    expect(server.requests).toHaveLength(2);
  });

  test('is checked by keys of today, so a key that is withdrawn is good for a day', async () => {
    expect(await check(aCallback())).toBe('genuine');
    publish(SECOND);

    expect(await check(aCallback({ seconds: 86_399 }), 86_399)).toBe('genuine');
    expect(await check(aCallback({ seconds: 86_400 }), 86_400)).toBe('forged');
  });

  test('cannot be checked when the time for that is over', async () => {
    const checked = await withEnvironment({ ALLOW_PRIVATE_TARGETS: 'true' }, () =>
      checkFalCallback(aCallback(), server.url, NOW, AbortSignal.abort()),
    );

    expect([checked, server.requests]).toEqual(['unknown', []]);
  });

  test('cannot be checked while the keys cannot be read, and is genuine later', async () => {
    for (const body of ['<html></html>', { keys: [] }, {}]) {
      server.answer(200, body);
      expect(await check(aCallback())).toBe('unknown');
    }
    server.answer(503, keysOf(FIRST));
    expect(await check(aCallback())).toBe('unknown');
    server.answer(302, {}, { location: 'https://elsewhere.example.com' });
    expect(await check(aCallback())).toBe('unknown');

    publish(FIRST);
    expect(await check(aCallback())).toBe('genuine');
  });

  test.each([
    ['https://queue.fal.run', 'https://rest.fal.ai/.well-known/jwks.json'],
    ['https://queue.falrun.com', 'https://rest.fal.ai/.well-known/jwks.json'],
    ['https://sandbox.example.com/fal', 'https://sandbox.example.com/fal/.well-known/jwks.json'],
  ])('of the queue %s is checked by the keys at %s', (queue, keys) => {
    expect(falKeysUrl(queue)).toBe(keys);
  });

  test('is checked for fal alone: other providers sign none', async () => {
    const sent = aCallback({ by: FOREIGN });
    const variables = { ALLOW_PRIVATE_TARGETS: 'true', FAL_BASE_URL: server.url };

    await withEnvironment(variables, async () => {
      expect(await checkCallback('fal', sent, NOW)).toBe('forged');
      expect(await checkCallback('modelark', sent, NOW)).toBe('genuine');
      expect(await checkCallback('constructor', sent, NOW)).toBe('genuine');
    });
  });
});
