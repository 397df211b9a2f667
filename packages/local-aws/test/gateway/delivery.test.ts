import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { anObject, CONTENT, ETAG, EXPIRES_AT, openDelivery, PATH, sign } from './a-delivery.ts';
import { send } from './an-api.ts';

test('a file has the headers stored with it, and every answer those of the distribution', async () => {
  const headers = { 'content-disposition': 'inline; filename="img_1_0.png"' };
  const baseUrl = await openDelivery({
    readObject: async () => ({ ...anObject(), headers }),
    responseHeaders: { 'X-Content-Type-Options': 'nosniff' },
  });

  const answer = await send(baseUrl, sign(baseUrl));
  const refused = await send(baseUrl, PATH);

  expect(answer).toMatchObject({
    statusCode: 200,
    headers: { ...headers, 'x-content-type-options': 'nosniff' },
  });
  expect(refused).toMatchObject({ statusCode: 403, headers: { 'x-content-type-options': 'nosniff' } });
});

test('a page of another origin may read every answer, where the distribution says so', async () => {
  const corsHeaders = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'ETag' };
  const baseUrl = await openDelivery({ corsHeaders });
  const closed = await openDelivery();
  const origin = 'https://app.example.com';
  const allowed = (headers: Record<string, string>, of = baseUrl, path = sign(of)) =>
    send(of, path, { headers }).then(({ statusCode, headers: answered }) => [
      statusCode,
      answered['access-control-allow-origin'],
      answered['access-control-expose-headers'],
    ]);

  expect(await allowed({ origin })).toEqual([200, '*', 'ETag']);
  expect(await allowed({ origin, range: 'bytes=0-3' })).toEqual([206, '*', 'ETag']);
  expect(await allowed({ origin, 'if-none-match': ETAG })).toEqual([304, '*', 'ETag']);
  expect(await allowed({ origin }, baseUrl, PATH)).toEqual([403, '*', 'ETag']);
  expect(await allowed({})).toEqual([200, undefined, undefined]);
  expect(await allowed({ origin }, closed)).toEqual([200, undefined, undefined]);
});

describe('a signed URL', () => {
  test('opens the file', async () => {
    const baseUrl = await openDelivery();

    const answer = await send(baseUrl, sign(baseUrl));

    expect(answer).toMatchObject({
      statusCode: 200,
      headers: { 'content-type': 'image/png', 'content-length': '10', etag: ETAG, 'accept-ranges': 'bytes' },
    });
    expect(answer.body).toEqual(CONTENT);
  });

  test('may have a query of its own, which is part of the signature', async () => {
    const baseUrl = await openDelivery();
    const signed = sign(baseUrl, `${PATH}?download=1`);

    expect((await send(baseUrl, signed)).statusCode).toBe(200);
    expect((await send(baseUrl, signed.replace('download=1', 'download=2'))).statusCode).toBe(403);
  });

  test.each<[string, (signed: string) => string, string]>([
    ['no signature at all', () => PATH, 'MissingKey'],
    ['another path', (signed) => signed.replace('img_1', 'img_2'), 'AccessDenied'],
    ['another spelling of the path', (signed) => signed.replace('acc%201', '%61cc%201'), 'AccessDenied'],
    [
      'a later expiry',
      (signed) => signed.replace(/Expires=(\d+)/, (_all, at) => `Expires=${Number(at) + 1}`),
      'AccessDenied',
    ],
    [
      'an expiry that is no number',
      (signed) => signed.replace(/Expires=\d+/, 'Expires=never'),
      'AccessDenied',
    ],
    ['no expiry', (signed) => signed.replace(/Expires=\d+&/, ''), 'AccessDenied'],
    ['no signature', (signed) => signed.replace(/&Signature=[^&]+/, ''), 'AccessDenied'],
    [
      'a signature that was changed',
      (signed) => signed.replace(/Signature=(.)/, (_all, first) => `Signature=${first === 'A' ? 'B' : 'A'}`),
      'AccessDenied',
    ],
    ['a longer signature', (signed) => signed.replace(/(Signature=[^&]+)/, '$1AAAA'), 'AccessDenied'],
    ['an unknown key', (signed) => signed.replace('KEC', 'KXX'), 'InvalidKey'],
    ['the other trusted key', (signed) => signed.replace('KEC', 'KOTHER'), 'AccessDenied'],
    [
      'another hash',
      (signed) => signed.replace('Hash-Algorithm=SHA256', 'Hash-Algorithm=SHA1'),
      'AccessDenied',
    ],
    ['one more parameter', (signed) => `${signed}&download=1`, 'AccessDenied'],
  ])('is refused with %s', async (_title, tamper, code) => {
    const baseUrl = await openDelivery();
    const signed = sign(baseUrl);
    const tampered = tamper(signed);
    expect(tampered).not.toBe(signed);

    const { statusCode, headers, body } = await send(baseUrl, tampered);

    expect(statusCode).toBe(403);
    expect(headers['content-type']).toBe('text/xml');
    expect(body.toString()).toMatch(
      new RegExp(`^<\\?xml .*<Error><Code>${code}</Code><Message>.+</Message></Error>$`),
    );
  });

  test('is refused with a custom policy', async () => {
    const baseUrl = await openDelivery();
    const policy = JSON.stringify({
      Statement: [
        {
          Resource: `${baseUrl}/*`,
          Condition: { DateLessThan: { 'AWS:EpochTime': EXPIRES_AT.getTime() / 1000 } },
        },
      ],
    });

    const signed = sign(baseUrl, PATH, { policy, dateLessThan: undefined } as never);

    expect((await send(baseUrl, signed)).statusCode).toBe(403);
  });

  test('stops at its expiry', async () => {
    const baseUrl = await openDelivery({ now: EXPIRES_AT });

    const { statusCode, body } = await send(baseUrl, sign(baseUrl));

    expect(statusCode).toBe(403);
    expect(body.toString()).toContain('<Code>AccessDenied</Code>');
  });

  test('is not needed without trusted keys', async () => {
    const baseUrl = await openDelivery({
      isSigned: false,
      readObject: async (_bucket, key) => (key === 'a.png' ? anObject() : undefined),
    });

    expect((await send(baseUrl, '/files/a.png')).statusCode).toBe(200);
  });
});

describe('the file route', () => {
  test('answers 403 for a file that is absent', async () => {
    const baseUrl = await openDelivery();

    const { statusCode, body } = await send(baseUrl, sign(baseUrl, '/files/other.png'));

    expect(statusCode).toBe(403);
    expect(body.toString()).toContain('<Code>AccessDenied</Code>');
  });

  test('answers HEAD without a body, and no other method', async () => {
    const baseUrl = await openDelivery();
    const signed = sign(baseUrl);

    const head = await send(baseUrl, signed, { method: 'HEAD' });

    expect(head).toMatchObject({ statusCode: 200, headers: { 'content-length': '10' } });
    expect(head.body).toHaveLength(0);
    expect((await send(baseUrl, signed, { method: 'POST' })).statusCode).toBe(403);
  });

  test.each<[string, number, string, string | undefined]>([
    ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
    ['bytes=2-5', 206, '2345', 'bytes 2-5/10'],
    ['bytes=4-4', 206, '4', 'bytes 4-4/10'],
    ['bytes=7-', 206, '789', 'bytes 7-9/10'],
    ['bytes=-2', 206, '89', 'bytes 8-9/10'],
    ['bytes=-99', 206, '0123456789', 'bytes 0-9/10'],
    ['bytes=8-99', 206, '89', 'bytes 8-9/10'],
    ['bytes=0-1,4-5', 200, '0123456789', undefined],
    ['bytes=5-2', 200, '0123456789', undefined],
    ['lines=1-2', 200, '0123456789', undefined],
  ])('sends the range %s', async (range, statusCode, text, contentRange) => {
    const baseUrl = await openDelivery();

    const answer = await send(baseUrl, sign(baseUrl), { headers: { range } });

    expect(answer.statusCode).toBe(statusCode);
    expect(answer.body.toString()).toBe(text);
    expect(answer.headers['content-length']).toBe(String(text.length));
    expect(answer.headers['content-range']).toBe(contentRange);
  });

  test.each(['bytes=10-', 'bytes=-0'])('refuses the range %s', async (range) => {
    const baseUrl = await openDelivery();

    const answer = await send(baseUrl, sign(baseUrl), { headers: { range } });

    expect(answer.statusCode).toBe(416);
    expect(answer.headers['content-range']).toBe('bytes */10');
  });

  test('answers 304 for an entity tag that the client has', async () => {
    const baseUrl = await openDelivery();
    const signed = sign(baseUrl);

    const same = await send(baseUrl, signed, { headers: { 'if-none-match': `"x", ${ETAG}` } });
    const changed = await send(baseUrl, signed, { headers: { 'if-range': '"x"', range: 'bytes=0-1' } });

    expect(same.statusCode).toBe(304);
    expect(changed.statusCode).toBe(200);
  });

  test('answers 500 when the store fails first, and aborts the response when it fails later', async () => {
    const before = await openDelivery({ readObject: () => Promise.reject(new Error('disk')) });
    const within = await openDelivery({
      readObject: async () => ({
        ...anObject(),
        body: Readable.from(
          (async function* () {
            yield CONTENT.subarray(0, 4);
            throw new Error('disk');
          })(),
        ),
      }),
    });

    expect((await send(before, sign(before))).statusCode).toBe(500);
    await expect(send(within, sign(within))).rejects.toThrow();
  });

  test('leaves all other paths to the API', async () => {
    expect((await send(await openDelivery(), '/files')).statusCode).toBe(418);
  });
});
