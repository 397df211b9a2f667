import { lookup } from 'node:dns/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { hostname } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isAllowedAddress } from '../../core/guarded-http/target-rules.ts';
import { wrongFields } from '../contract/support/answers.ts';
import { type AnyRecord, aGeneration, eventually, unique } from '../contract/support/client.ts';
import { useCaller } from '../contract/support/use-caller.ts';
import { shownAttempts } from '../contract/support/webhooks.ts';

/** Connections opened to this machine so far. */
let connections = 0;
const listener = createServer((socket) => {
  connections += 1;
  socket.destroy();
});

const caller = useCaller(undefined, 'guarded');
let port: number;
beforeAll(async () => {
  await new Promise<void>((resolve) => listener.listen(0, resolve));
  ({ port } = listener.address() as AddressInfo);
});
afterAll(() => {
  listener.close();
});

const anImage = (webhookUrl: string) =>
  caller.post<AnyRecord>(
    '/v1/generations',
    aGeneration({ prompt: unique('[fail=content_policy]'), webhookUrl }),
  );
const aVideo = (webhookUrl: string) =>
  caller.post<AnyRecord>('/v1/videos', {
    ...{ model: 'xW3.0s', resolution: '480p', durationSec: 2 },
    ...{ prompt: unique('[fail=content_policy]'), endUserEmail: 'ada@example.com', webhookUrl },
  });

describe('Where private targets are not allowed, creation refuses a webhook to', () => {
  test.each([
    'http://127.0.0.1:PORT/',
    'https://[::ffff:127.0.0.1]:PORT/',
    'https://169.254.169.254/latest/meta-data/',
  ])('%s', async (url) => {
    const webhookUrl = url.replace('PORT', String(port));

    expect(wrongFields(await anImage(webhookUrl))).toEqual(['webhookUrl']);
    expect(wrongFields(await aVideo(webhookUrl))).toEqual(['webhookUrl']);
    expect(connections).toBe(0);
  });
});

/** Names a machine may have for itself; the resolver knows only some. */
const NAMES = [hostname(), 'ip6-localhost', 'localhost.localdomain'];

/** A name other than `localhost` that resolves to this machine and accepts connections. Undefined for no such name. */
const aNameOfThisMachine = async (): Promise<string | undefined> => {
  for (const name of NAMES) {
    const addresses = await lookup(name, { all: true }).catch(() => []);
    const isPublic = addresses.every(({ address }) => isAllowedAddress(address, 'https:', false));
    if (addresses.length > 0 && !isPublic && (await canConnect(name))) return name;
  }
  return undefined;
};

const canConnect = (host: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

describe('A webhook to a name that resolves to this machine', () => {
  test('is accepted at creation and refused on connect, without opening a connection', async () => {
    const name = await aNameOfThisMachine();
    if (name === undefined) {
      // test/unit/core/guarded-http/guarded-http.test.ts covers this with its own resolver.
      console.warn(`SKIPPED: none of ${NAMES} resolves to this machine; add one to its hosts file.`);
      return;
    }
    // The connection that found the name shows that the listener counts.
    const before = await eventually(
      async () => connections,
      (count) => count > 0,
    );

    const { status, body } = await anImage(`https://${name}:${port}/hook`);

    expect(status).toBe(202);
    const attempts = await eventually(
      () => shownAttempts(caller.service, body.requestId),
      (shown) => shown.length > 0,
    );
    expect(attempts).toMatchObject([{ number: 1, error: 'target_refused' }]);
    expect(connections).toBe(before);
  });
});
