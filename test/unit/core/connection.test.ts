import type { LookupAddress } from 'node:dns';
import type { Agent } from 'node:https';
import { type AddressInfo, createServer, type LookupFunction, Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { CALL_LIMITS, type CallKind, clientOptions } from '../../../core/aws-clients.ts';
import { ConnectingAgent, openConnection } from '../../../core/connection.ts';
import { readSources } from '../architecture/source-graph.ts';

const server = createServer((socket) => socket.resume());
const accepted = new Set<Socket>();
server.on('connection', (socket) => accepted.add(socket));
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  for (const socket of accepted) socket.destroy();
  server.close();
});

/** What the network does with a connection to an address: it is lost, refused at once, or there after so many milliseconds. */
type Fate = 'lost' | 'ECONNREFUSED' | (typeof NO_WAY)[number] | number;

/** Errors of a machine that has no way to an address. */
const NO_WAY = ['ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT'] as const;

const connect = Socket.prototype.connect as (this: Socket, port: number, host: string) => Socket;
let dialled: Socket[] = [];
/** A resolver of a name with these addresses, each with its fate. */
const network = (...fates: [address: string, fate: Fate][]): LookupFunction => {
  jest.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket, ...given: unknown[]) {
    const [{ host }] = [given[0]].flat() as [{ host?: string }];
    const fate = fates.find(([address]) => address === host)?.[1];
    dialled.push(this);
    if (fate === undefined) throw new Error(`${host} is dialled, which is no address of the name.`);
    if (typeof fate === 'number')
      setTimeout(() => {
        if (!this.destroyed) connect.call(this, (server.address() as AddressInfo).port, '127.0.0.1');
      }, fate);
    else if (fate !== 'lost') this.destroy(Object.assign(new Error(fate), { code: fate }));
    return this;
  });
  const addresses = fates.map(
    ([address]): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 }),
  );
  return (_host, _options, done) => process.nextTick(() => done(null, addresses));
};

beforeEach(() => {
  dialled = [];
  jest.useFakeTimers({
    doNotFake: ['nextTick', 'setImmediate', 'clearImmediate', 'queueMicrotask', 'performance'],
  });
});
afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

const ran = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
/** Connects, while so much time goes by. */
const connectingFor = async (milliseconds: number, lookup: LookupFunction): Promise<Socket> => {
  const connecting = openConnection({ host: 'dual.example', port: 80, isSecure: false, lookup });
  connecting.catch(() => undefined);
  for (let passed = 0; passed < milliseconds; passed += 50) {
    await ran();
    jest.advanceTimersByTime(50);
  }
  return connecting;
};

const V4 = '192.0.2.1';
const V6 = '2001:db8::1';

describe('a connection to a host of several addresses', () => {
  test.each<[string, [string, Fate][]]>([
    [
      'IPv4 is slow, IPv6 has no way',
      [
        [V4, 3_000],
        [V6, 'ENETUNREACH'],
      ],
    ],
    [
      'IPv6 has no way, IPv4 is slow',
      [
        [V6, 'ENETUNREACH'],
        [V4, 3_000],
      ],
    ],
    [
      'IPv6 is lost, IPv4 is slow',
      [
        [V6, 'lost'],
        [V4, 4_000],
      ],
    ],
    [
      'IPv4 is lost, IPv6 is slow',
      [
        [V4, 'lost'],
        [V6, 4_000],
      ],
    ],
    [
      'IPv4 is slow, IPv6 is lost',
      [
        [V4, 4_500],
        [V6, 'lost'],
      ],
    ],
    [
      'IPv4 is refused, IPv6 is slow',
      [
        [V4, 'ECONNREFUSED'],
        [V6, 4_500],
      ],
    ],
    [
      'both are slow to the first of many addresses, and lost to the others',
      [[V4, 4_500], ...[2, 3, 4, 5].map((host): [string, Fate] => [`192.0.2.${host}`, 'lost']), [V6, 'lost']],
    ],
  ])('has 5 s in all, whichever family works: %s', async (_, fates) => {
    const socket = await connectingFor(4_950, network(...fates));

    expect(socket.destroyed).toBe(false);
    expect(dialled.filter((one) => one !== socket && !one.destroyed)).toEqual([]);
    socket.destroy();
  });

  test('dials the other family before a second address of the first', async () => {
    const lookup = network([V4, 'lost'], ['192.0.2.2', 'lost'], [V6, 0]);
    const socket = await connectingFor(400, lookup);

    expect(dialled).toHaveLength(2);
    expect(dialled[1]).toBe(socket);
    socket.destroy();
  });

  test('ends after 5 s, and leaves none of its attempts', async () => {
    const connecting = connectingFor(5_000, network([V4, 'lost'], [V6, 6_000]));

    await expect(connecting).rejects.toMatchObject({ name: 'ConnectTimeoutError', code: 'CONNECT_TIMEOUT' });
    expect(dialled.map(({ destroyed }) => destroyed)).toEqual([true, true]);
  });

  test.each(
    NO_WAY.flatMap((lacking): [Fate, Fate][] => [
      ['ECONNREFUSED', lacking],
      [lacking, 'ECONNREFUSED'],
    ]),
  )(
    'fails at once with what the server did, not with a family that this machine lacks: %s, %s',
    async (v6, v4) => {
      await expect(connectingFor(50, network([V6, v6], [V4, v4]))).rejects.toMatchObject({
        code: 'ECONNREFUSED',
      });
    },
  );

  test.each(NO_WAY)('fails with what this machine lacks when it lacks every family: %s', async (code) => {
    await expect(connectingFor(50, network([V6, code], [V4, code]))).rejects.toMatchObject({ code });
  });

  test('fails when its name has no address, and as its resolver does', async () => {
    await expect(connectingFor(50, network())).rejects.toMatchObject({ code: 'ENOTFOUND' });
    const failing: LookupFunction = (_host, _options, done) => done(new Error('no such name'), []);
    await expect(connectingFor(50, failing)).rejects.toThrow('no such name');
  });

  test('leaves no timer behind, whether or not it connects', async () => {
    (await connectingFor(600, network([V4, 'lost'], [V6, 'lost'], ['192.0.2.2', 0]))).destroy();
    expect(jest.getTimerCount()).toBe(0);

    await connectingFor(50, network([V4, 'ECONNREFUSED'])).catch(() => undefined);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('is not begun with a signal that has ended, whatever its resolver does', async () => {
    const server = { host: 'a.example', port: 80, isSecure: false, lookup: () => undefined };

    await expect(
      openConnection({ ...server, signal: AbortSignal.abort(new Error('enough')) }),
    ).rejects.toThrow('enough');
  });

  test('ends with its signal', async () => {
    const stop = new AbortController();
    const lookup = network([V4, 'lost']);
    const connecting = openConnection({
      host: 'a.example',
      port: 80,
      isSecure: false,
      lookup,
      signal: stop.signal,
    });
    connecting.catch(() => undefined);
    await ran();
    stop.abort(new Error('enough'));

    await expect(connecting).rejects.toThrow('enough');
    expect(dialled.map(({ destroyed }) => destroyed)).toEqual([true]);
  });
});

describe('every connection', () => {
  test('of a client of AWS is opened so, and has 5 s where its answer has more', () => {
    for (const kind of Object.keys(CALL_LIMITS) as CallKind[]) {
      const { httpsAgent, connectionTimeout } = clientOptions(kind).requestHandler;
      expect(httpsAgent).toBeInstanceOf(ConnectingAgent);
      expect(connectionTimeout).toBe(5_000);
    }
  });

  test('of that agent tries each address, and fails by a name that the SDK repeats', async () => {
    const lookup = network([V4, 'lost'], [V6, 'lost']);
    const agent: Agent = new ConnectingAgent();
    const { promise, resolve } = Promise.withResolvers<Error | null>();
    agent.createConnection({ host: 'dual.example', port: 443, lookup }, resolve);
    for (let passed = 0; passed < 5_000; passed += 50) {
      await ran();
      jest.advanceTimersByTime(50);
    }

    expect(await promise).toMatchObject({ name: 'TimeoutError' });
    expect(dialled).toHaveLength(2);
  });

  test('of that agent fails as it did when it had time', async () => {
    const lookup = network([V4, 'ECONNREFUSED']);
    const agent: Agent = new ConnectingAgent();
    const { promise, resolve } = Promise.withResolvers<Error | null>();
    agent.createConnection({ host: 'dual.example', port: 443, lookup }, resolve);

    expect(await promise).toMatchObject({ name: 'Error', code: 'ECONNREFUSED' });
  });

  test('of core, functions, providers and operators is opened in one place', () => {
    const imports = /import (type )?\{?([^;]*?)\}? from '(?:node:)?(?:net|tls|https?|http2|dgram)'/g;
    const DIALS = /^(connect|createConnection|request|get|default|Socket|TLSSocket)\b/;
    const dialling = [...readSources('core', 'functions', 'providers', 'ops')]
      .filter(([, source]) => {
        const names = [...source.matchAll(imports)].flatMap(([, isType, list = '']) =>
          isType ? [] : list.split(','),
        );
        return /\bfetch\(/.test(source) || names.some((name) => DIALS.test(name.trim()));
      })
      .map(([path]) => path);

    expect(dialling).toEqual(['core/connection.ts', 'core/http-exchange.ts']);
    expect(readSources('core').get('core/http-exchange.ts')).toContain('createConnection: () => connection');
  });
});
