import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { guardedRequest, type ResolveAll } from '../../../../core/guarded-http/guarded-http.ts';
import {
  HOSTILE_URLS,
  LOCAL_ADDRESSES,
  PUBLIC_ADDRESSES,
  REFUSED_ADDRESSES,
} from '../../builders/hostile-targets.ts';
import {
  dialled,
  emit,
  heard,
  listenerPort,
  locally,
  options,
  port,
  resolving,
  server,
  toLoopback,
} from './watched-targets.ts';

const asHost = (address: string) => (address.includes(':') ? `[${address}]` : address);

const expectRefused = async (call: Promise<unknown>, reason?: string) => {
  await expect(call).rejects.toMatchObject({ name: 'TargetRefusedError', ...(reason && { reason }) });
  expect(dialled()).toEqual([]);
  expect(heard).toEqual([]);
  expect(server.requests).toEqual([]);
};

describe('no connection is opened', () => {
  test.each(HOSTILE_URLS)('to %p', async (url) => {
    await expectRefused(guardedRequest(url, options(), toLoopback()));
  });

  test.each([...REFUSED_ADDRESSES, ...LOCAL_ADDRESSES].filter((address) => !address.includes('%')))(
    'to the address %s, which nobody looks up',
    async (address) => {
      const resolve = resolving(['93.184.215.14']);

      await expectRefused(guardedRequest(`https://${asHost(address)}/`, options(), resolve), 'address');

      expect(resolve).not.toHaveBeenCalled();
    },
  );

  test.each(['https://localhost/', 'https://localhost./'])(
    'to %s, whatever the system makes of it',
    async (url) => {
      await expect(guardedRequest(url, options())).rejects.toThrow();
      expect(dialled()).toEqual([]);
    },
  );

  test.each([
    `https://127.0.0.1:PORT/`,
    'https://2130706433:PORT/',
    'https://[::ffff:127.0.0.1]:PORT/',
    'http://127.0.0.1:PORT/',
  ])('to %s, where a server listens', async (url) => {
    await expectRefused(guardedRequest(url.replace('PORT', String(listenerPort)), options()));
  });

  test.each([...REFUSED_ADDRESSES, ...LOCAL_ADDRESSES])(
    'to a name that leads to %s, alone or beside public addresses, in any order',
    async (address) => {
      const [first = '', second = ''] = PUBLIC_ADDRESSES;
      const url = `https://name.example:${listenerPort}/`;
      for (const addresses of [[address], [first, second, address], [address, first]])
        await expectRefused(guardedRequest(url, options(), resolving(addresses)), 'address');
    },
  );

  test.each(REFUSED_ADDRESSES)('to %s where private targets are allowed', async (address) => {
    const url = 'https://name.example/';
    await locally(async () => {
      if (!address.includes('%'))
        await expectRefused(guardedRequest(`https://${asHost(address)}/`, options()), 'address');
      for (const addresses of [[address], ['127.0.0.1', address]])
        await expectRefused(guardedRequest(url, options(), resolving(addresses)), 'address');
    });
  });

  test.each([['10.0.0.1'], ['93.184.215.14'], ['127.0.0.1', '10.0.0.1'], ['::1', '2606:4700::1111']])(
    'over plain http to a name that leads to %s and %s',
    async (...addresses) => {
      await locally(() =>
        expectRefused(guardedRequest('http://name.example/', options(), resolving(addresses)), 'address'),
      );
    },
  );

  test('to a name without addresses', async () => {
    await expectRefused(guardedRequest('https://name.example/', options(), resolving([])));
  });

  test('to what a name leads to once it has changed, though it was fine a moment ago', async () => {
    await locally(async () => {
      const resolve = resolving(['127.0.0.1'], ['169.254.169.254']);
      const url = `http://name.example:${port}/`;
      const first = await guardedRequest(url, options(), resolve);
      await text(first.body);
      expect([first.statusCode, dialled(), server.requests.length]).toEqual([404, ['127.0.0.1'], 1]);
      emit.mockClear();
      server.reset();

      await expectRefused(guardedRequest(url, options(), resolve), 'address');
    });
  });

  test('after a failed lookup, which is not a refusal', async () => {
    const failing: ResolveAll = (_hostname, _options, callback) =>
      process.nextTick(callback, Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), []);

    await expect(guardedRequest('https://name.example/', options(), failing)).rejects.toMatchObject({
      code: 'ENOTFOUND',
    });
    expect(dialled()).toEqual([]);
  });
});
