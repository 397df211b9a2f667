import { describe, expect, test } from '@jest/globals';
import { AbortedError, ConnectionError, UploadError } from '../src/index.ts';
import { accepted, BODY, startServer } from './a-client.ts';
import { json } from './server.ts';

const { server, aClient } = await startServer();
const PICTURE = new Blob(['a picture'], { type: 'image/png' });
const form = (url: string, id = 'upl_1') =>
  json(201, {
    uploadId: id,
    url: `https://files.example.com/uploads/${id}.png`,
    upload: { url, fields: { key: `uploads/${id}.png`, 'Content-Type': 'image/png' } },
    expiresAt: '2026-11-25T00:00:00.000Z',
  });
const stored = json(204, undefined);

describe('an upload', () => {
  test('announces type and size, and sends the fields before the file', async () => {
    const client = aClient();
    server.answer(form(`${server.url}/bucket`), stored);

    expect((await client.upload(PICTURE)).url).toBe('https://files.example.com/uploads/upl_1.png');
    const [announced, sent] = server.seen;
    expect(announced).toMatchObject({ method: 'POST', path: '/v1/uploads' });
    expect(JSON.parse(announced?.body ?? '')).toEqual({ contentType: 'image/png', bytes: 9 });
    expect(sent).toMatchObject({ method: 'POST', path: '/bucket' });
    expect(sent?.headers.authorization).toBeUndefined();
    const names = [...(sent?.body ?? '').matchAll(/ name="([^"]+)"/g)].map(([, name]) => name);
    expect(names).toEqual(['key', 'Content-Type', 'file']);
    expect(sent?.body).toContain('a picture');
  });

  test('that is refused is an UploadError with the reason', async () => {
    server.answer(form(`${server.url}/bucket`), json(400, { Code: 'EntityTooLarge' }));

    const error = await aClient()
      .upload(PICTURE)
      .catch((thrown) => thrown);
    expect(error).toBeInstanceOf(UploadError);
    expect(error.message).toMatch(/400.*EntityTooLarge/);
  });

  test('that is aborted while its file is sent is an AbortedError', async () => {
    server.answer(form(`${server.url}/bucket`));
    const caller = new AbortController();
    const sending: typeof fetch = async (url, init) => {
      if (!String(url).endsWith('/bucket')) return fetch(url, init);
      caller.abort(new Error('enough'));
      throw caller.signal.reason;
    };

    const error = await aClient({ fetch: sending })
      .upload(PICTURE, { signal: caller.signal })
      .catch((thrown) => thrown);
    expect(error).toBeInstanceOf(AbortedError);
    expect(error.cause).toBe(caller.signal.reason);
  });

  test('whose answer breaks off is a ConnectionError', async () => {
    server.answer(form(`${server.url}/bucket`));
    const broken = new ReadableStream({
      start: (controller) => controller.error(new TypeError('terminated')),
    });
    const sending: typeof fetch = async (url, init) =>
      String(url).endsWith('/bucket') ? new Response(broken) : fetch(url, init);

    await expect(aClient({ fetch: sending }).upload(PICTURE)).rejects.toBeInstanceOf(ConnectionError);
  });

  test('is made for each file of a creation, and its URL is sent instead', async () => {
    const client = aClient();
    server.answer(form(`${server.url}/bucket`), stored, accepted);

    await client.createImage({ ...BODY, references: ['https://example.com/a.png', PICTURE] });
    expect(server.seen).toHaveLength(3);
    expect(JSON.parse(server.seen[2]?.body ?? '')).toEqual({
      ...BODY,
      references: ['https://example.com/a.png', 'https://files.example.com/uploads/upl_1.png'],
    });

    server.answer(form(`${server.url}/bucket`), stored, accepted);
    await client.createVideo({ ...BODY, image: PICTURE });
    expect(JSON.parse(server.seen[2]?.body ?? '')).toMatchObject({
      image: 'https://files.example.com/uploads/upl_1.png',
    });
  });
});
