import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { startFrontDoor } from '../../src/gateway/front-door.ts';
import { anObject, doors, ETAG, openDelivery } from './a-delivery.ts';
import { send } from './an-api.ts';

describe('a path with a behaviour of its own', () => {
  const openPages = () =>
    openDelivery({
      paths: [
        {
          ...{ pathPattern: '/docs/*.j?', bucketName: 'pages' },
          responseHeaders: { 'Content-Security-Policy': "default-src 'self'" },
        },
        { pathPattern: '/docs', bucketName: 'pages' },
        { pathPattern: '/', bucketName: 'pages' },
      ],
      rootObject: 'docs',
      readObject: async (bucket, key) =>
        ['pages docs/a.js', 'pages docs', 'outputs docs/b.txt'].includes(`${bucket} ${key}`)
          ? anObject()
          : undefined,
    });

  test.each([
    ['/docs', 200],
    ['/docs?x=1', 200],
    ['/docs/a.js', 200],
    ['/docs/c.js', 403],
    ['/files/docs', 200],
    ['/files/docs/a.js', 200],
    // Another path needs a signature, and outside the prefix it is the API's.
    ['/files/docs/b.txt', 403],
    ['/docs/b.txt', 418],
    ['/docs/a.json', 418],
    ['/docsx', 418],
    ['/files/', 200],
    // At that address it is the API's.
    ['/', 418],
  ])(
    'is served to everyone, by the first pattern that matches, also at the address of the API: %s',
    async (path, status) => {
      expect((await send(await openPages(), path)).statusCode).toBe(status);
    },
  );

  test('has the headers of its own policy', async () => {
    const baseUrl = await openPages();
    const policyOf = async (path: string) => (await send(baseUrl, path)).headers['content-security-policy'];

    expect(await policyOf('/docs/a.js')).toBe("default-src 'self'");
    expect(await policyOf('/docs')).toBeUndefined();
  });
});

describe('a compressed path', () => {
  const TEXT = 'a line of a page\n'.repeat(100);
  const openPage = async (
    contentType = 'text/html; charset=utf-8',
    text = TEXT,
    headers: Record<string, string> = {},
  ) => {
    const body = () => Readable.from([Buffer.from(text, headers['content-encoding'] ? 'latin1' : 'utf8')]);
    const contentLength = text.length;
    const readObject = async () => ({ ...anObject(), body: body(), contentType, contentLength, headers });
    return `${await openDelivery({ isSigned: false, compresses: true, readObject })}/files/page`;
  };

  test('is sent as gzip to a client that takes it', async () => {
    const answer = await fetch(await openPage(), { headers: { 'accept-encoding': 'gzip, br' } });

    expect(answer.headers.get('content-encoding')).toBe('gzip');
    expect(answer.headers.get('vary')).toBe('Accept-Encoding');
    expect(answer.headers.get('etag')).toBe(`W/${ETAG}`);
    expect(await answer.text()).toBe(TEXT);
  });

  test('is sent as it is stored where that is compressed, also to a client that does not take it', async () => {
    const url = await openPage('text/javascript', gzipSync(TEXT).toString('latin1'), {
      'content-encoding': 'gzip',
    });
    const answer = await fetch(url, { headers: { 'accept-encoding': 'identity' } });

    expect(answer.headers.get('content-encoding')).toBe('gzip');
    expect(await answer.text()).toBe(TEXT);
    const taking = await fetch(url, { headers: { 'accept-encoding': 'gzip' } });
    expect(await taking.text()).toBe(TEXT);
  });

  test.each([
    ['to one that does not', { 'accept-encoding': 'identity' }, 'text/html', TEXT],
    ['a range', { range: 'bytes=0-9' }, 'text/html', TEXT],
    ['an image', {}, 'image/png', TEXT],
    ['what is shorter than 1,000 bytes', {}, 'text/html', 'short'],
  ])('is sent as it is: %s', async (_title, headers: Record<string, string>, contentType, text) => {
    const answer = await fetch(await openPage(contentType, text), {
      headers: { 'accept-encoding': 'gzip', ...headers },
    });

    expect(answer.headers.get('content-encoding')).toBeNull();
    expect(await answer.text()).toBe(headers.range ? text.slice(0, 10) : text);
  });
});

test('paths of the program’s own are its own, before those of the API', async () => {
  const door = await startFrontDoor(0);
  doors.push(door);
  const answerWith =
    (status: number) => async (_request: unknown, response: { writeHead(status: number): { end(): void } }) =>
      void response.writeHead(status).end();
  door.open({
    api: answerWith(418),
    own: { takes: ({ url = '' }) => url.startsWith('/own/'), handle: answerWith(200) },
  });

  const statuses = await Promise.all(
    ['/own/a', '/own/', '/own', '/owner', '/'].map(
      async (path) => (await send(door.baseUrl, path)).statusCode,
    ),
  );

  expect(statuses).toEqual([200, 200, 418, 418, 418]);
});
