import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type FileFault, openFile } from '../../../../core/guarded-http/http-files.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { aClosedUrl, LoopbackServer } from '../../servers/loopback-server.ts';

const server = await new LoopbackServer().start();
beforeEach(() => server.reset());
afterAll(() => server.close());

const open = (url: string, signal = AbortSignal.timeout(20_000)) =>
  withEnvironment({ ALLOW_PRIVATE_TARGETS: 'true' }, () => openFile(url, signal));
const unavailable = (fault: FileFault) => ({ name: 'FileUnavailableError', fault });

describe('opening a file', () => {
  test('gives its body as it arrives', async () => {
    server.respond = (_, response) => response.end('the file');

    expect((await buffer(await open(server.url))).toString()).toBe('the file');
  });

  test.each([
    'https://10.0.0.1:22/a',
    'https://169.254.169.254/a',
    'https://[::ffff:127.0.0.1]/a',
    'https://user@127.0.0.1/a',
    'http://192.168.1.1:8080/a',
    'http://169.254.169.254/a',
    'ftp://127.0.0.1/a',
    'no url',
  ])('at %s, which is not called, need not be tried again', async (url) => {
    await expect(open(url)).rejects.toMatchObject(unavailable('final'));
  });

  test('of plain http: is fetched by https:, so its address decides, and not its protocol', async () => {
    for (const [url, reason] of [
      ['http://127.0.0.1/a', 'address'],
      ['http://127.0.0.1:8080/a', 'protocol'],
    ] as const) {
      await expect(openFile(url, AbortSignal.timeout(20_000))).rejects.toMatchObject({
        ...unavailable('final'),
        cause: { name: 'TargetRefusedError', reason },
      });
    }
  });

  test('where nobody listens may be tried again', async () => {
    await expect(open(await aClosedUrl())).rejects.toMatchObject(unavailable('out-of-order'));
  });

  test('after its time limit is retryable: the next attempt has its own', async () => {
    await expect(open(server.url, AbortSignal.abort())).rejects.toMatchObject(unavailable('out-of-order'));
    expect(server.requests).toEqual([]);
  });

  test.each([
    ...[403, 404].map((status) => [status, 'absent'] as const),
    ...[408, 425, 429, 500, 502, 503, 504].map((status) => [status, 'out-of-order'] as const),
    ...[204, 206, 304, 400, 401, 410, 451].map((status) => [status, 'final'] as const),
  ])('with status %p is tried again: %p', async (status, fault) => {
    server.answer(status, '');

    await expect(open(server.url)).rejects.toMatchObject(unavailable(fault));
  });

  test('that breaks off may be tried again, as the server may be out of order', async () => {
    server.respond = (_, response) => {
      response.writeHead(200, { 'content-length': '10' }).write('half', () => response.destroy());
    };

    await expect(open(server.url).then(buffer)).rejects.toMatchObject(unavailable('out-of-order'));
  });
});

describe('a redirected file', () => {
  /** Redirects from `/0` over so many URLs to the file. */
  const redirecting = (hops: number, status = 302): void => {
    server.respond = ({ path }, response) => {
      const place = Number(path.slice(1));
      if (place === hops) response.end('the file');
      else response.writeHead(status, { location: `/${place + 1}` }).end('moved');
    };
  };

  test.each([301, 302, 303, 307, 308])('is followed over three redirects of status %p', async (status) => {
    redirecting(3, status);

    expect((await buffer(await open(`${server.url}/0`))).toString()).toBe('the file');
    expect(server.requests.map(({ path }) => path)).toEqual(['/0', '/1', '/2', '/3']);
  });

  test('is not followed over a fourth', async () => {
    redirecting(4);

    await expect(open(`${server.url}/0`)).rejects.toMatchObject({
      ...unavailable('final'),
      message: 'The file server redirects more than 3 times.',
    });
    expect(server.requests).toHaveLength(4);
  });

  test.each([
    ['https://169.254.169.254/latest', 'address'],
    ['http://10.0.0.1:8080/', 'address'],
    ['https://[::ffff:127.0.0.1]/a', 'address'],
    ['https://user:password@example.com/', 'user-info'],
    ['https://example.com:25/', 'port'],
    ['file:///etc/passwd', 'protocol'],
  ])('passes the same guard at each hop: %s', async (location, reason) => {
    server.respond = ({ path }, response) =>
      response.writeHead(302, { location: path === '/0' ? '/1' : location }).end();

    await expect(open(`${server.url}/0`)).rejects.toMatchObject({
      ...unavailable('final'),
      cause: { name: 'TargetRefusedError', reason },
    });
    expect(server.requests).toHaveLength(2);
  });

  test('is followed to an address written in UTF-8, as browsers do', async () => {
    server.respond = ({ path }, response) => {
      const location = Buffer.from('/fünf?a=“1”').toString('latin1');
      if (path === '/0') response.writeHead(302, { location }).end();
      else response.end(path);
    };

    expect((await buffer(await open(`${server.url}/0`))).toString()).toBe(encodeURI('/fünf?a=“1”'));
  });

  test('without a target is given up', async () => {
    server.answer(302, '');

    await expect(open(server.url)).rejects.toMatchObject(unavailable('final'));
  });
});

describe('a file in an encoding that was not asked for', () => {
  const content = Buffer.from('the file '.repeat(1_000));
  test.each<[string, Buffer]>([
    ['gzip', gzipSync(content)],
    ['x-gzip', gzipSync(content)],
    ['GZIP', gzipSync(content)],
    ['deflate', deflateSync(content)],
    ['deflate', deflateRawSync(content)],
    ['gzip, deflate', deflateRawSync(gzipSync(content))],
    ['br', brotliCompressSync(content)],
    ['zstd', zstdCompressSync(content)],
    ['gzip, br', brotliCompressSync(gzipSync(content))],
    ['gzip, deflate, br', brotliCompressSync(deflateSync(gzipSync(content)))],
    ['identity', content],
    ['aws-chunked', content],
    ...['none', 'binary', 'UTF-8'].map((name): [string, Buffer] => [name, content]),
  ])('is decoded: %s', async (encoding, bytes) => {
    server.respond = (_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(bytes);

    expect((await buffer(await open(server.url))).equals(content)).toBe(true);
  });

  test.each(['rot13', 'compress', 'constructor', 'toString', Array(4).fill('gzip').join()])(
    'that is unknown is given up: %s',
    async (encoding) => {
      server.respond = (_, response) => response.writeHead(200, { 'content-encoding': encoding }).end('abc');

      await expect(open(server.url)).rejects.toMatchObject({
        ...unavailable('final'),
        cause: { name: 'UnknownEncodingError' },
      });
    },
  );

  test('may be empty', async () => {
    server.respond = (_, response) => response.writeHead(200, { 'content-encoding': 'deflate' }).end();

    expect(await buffer(await open(server.url))).toHaveLength(0);
  });

  test('that is unknown is not read on', async () => {
    const closed = Promise.withResolvers<void>();
    server.respond = (_, response) => {
      response.on('close', closed.resolve);
      response.writeHead(200, { 'content-encoding': 'rot13' }).write(Buffer.alloc(2 * 1024 * 1024));
    };

    // No time limit ends it.
    const opened = open(server.url, new AbortController().signal);
    await expect(opened).rejects.toMatchObject(unavailable('final'));
    await closed.promise;
  });

  test.each<[string, Buffer]>([
    ['gzip', gzipSync(content)],
    ['deflate', deflateSync(content)],
    ['deflate', deflateRawSync(content)],
    ['br', brotliCompressSync(content)],
  ])('that ends early, as a whole answer, broke off: %s', async (encoding, whole) => {
    const half = whole.subarray(0, whole.byteLength >> 1);
    server.respond = (_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(half);

    await expect(open(server.url).then(buffer)).rejects.toMatchObject(unavailable('out-of-order'));
  });

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateRawSync],
  ] as const)(
    'is no more read than its reader takes, however much it grows: %s',
    async (encoding, encode) => {
      const bomb = encode(Buffer.alloc(20 * 1024 * 1024));
      server.respond = (_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(bomb);

      let taken = 0;
      for await (const chunk of await open(server.url)) {
        taken += chunk.byteLength;
        if (taken > 1024 * 1024) break;
      }
      expect(taken).toBeLessThan(2 * 1024 * 1024);
    },
  );
});
