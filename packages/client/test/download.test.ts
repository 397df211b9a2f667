import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { AbortedError, DownloadError, ExpiredError, GenerationClient } from '../src/index.ts';
import { saveTo } from '../src/node.ts';
import { type Behavior, FaultyServer, hangUp, json } from './server.ts';

const api = await new FaultyServer().start();
const files = await new FaultyServer().start();
const folder = mkdtempSync(join(tmpdir(), 'client-'));
const path = join(folder, 'a.png');
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await Promise.all([api.close(), files.close()]);
});
beforeEach(() => api.answer());
const client = new GenerationClient({ baseUrl: api.url, apiKey: 'gsk_test', maxRetries: 0 });

const BYTES = Buffer.alloc(300_000, 'ä');
const TOMORROW = '2999-01-01T00:00:00.000Z';
const anItem = (more: object = {}) => ({
  id: 'img_1_0',
  size: '1x1',
  expiresAt: TOMORROW,
  url: `${files.url}/a.png?Signature=x`,
  ...more,
});

const whole: Behavior = (_seen, response) => {
  response.writeHead(200, { 'content-type': 'image/png', 'content-length': BYTES.length }).end(BYTES);
};
const forbidden: Behavior = (_seen, response) => void response.writeHead(403).end('<Error/>');
const cutOff: Behavior = (_seen, response) => {
  response.writeHead(200, { 'content-length': BYTES.length });
  response.write(BYTES.subarray(0, 1000), () => response.destroy());
};

describe('a download', () => {
  test('is the file, and its server gets no header of ours', async () => {
    files.answer(whole);
    const download = await client.download(anItem());

    expect([download.contentType, download.size]).toEqual(['image/png', BYTES.length]);
    expect(BYTES.equals(await download.bytes())).toBe(true);
    const names = Object.keys(files.seen[0]?.headers ?? {});
    expect(names).not.toContain('authorization');
    expect(names).not.toContain('idempotency-key');
    expect(api.seen).toEqual([]);
  });

  test('is saved under its name, with nothing beside it', async () => {
    files.answer(whole);
    await saveTo(path, await client.download(anItem()));

    expect(readFileSync(path).equals(BYTES)).toBe(true);
    expect(readdirSync(folder)).toEqual(['a.png']);
    rmSync(path);
  });

  test('that comes compressed is not counted', async () => {
    const packed = gzipSync(BYTES);
    files.answer((_seen, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': packed.length }).end(packed);
    });
    const download = await client.download(anItem());

    expect(download.size).toBeUndefined();
    expect((await download.bytes()).length).toBe(BYTES.length);
  });

  test('by a URL that is refused goes on with a fresh one', async () => {
    files.answer(forbidden, whole);
    const fresh = anItem({ url: `${files.url}/fresh` });
    api.answer(json(200, { requestId: 'img_1', status: 'succeeded', images: [fresh] }));
    const download = await client.download(anItem());

    expect((await download.bytes()).length).toBe(BYTES.length);
    expect(api.seen.map((seen) => seen.path)).toEqual(['/v1/generations/img_1']);
    expect(files.seen.map((seen) => seen.path)).toEqual(['/a.png?Signature=x', '/fresh']);
  });
});

describe('a file is not left half', () => {
  test.each<[string, Behavior]>([
    ['a cut', cutOff],
    [
      'a short one',
      (_seen, response) => {
        response.socket?.write(
          `HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\n${'x'.repeat(9)}`,
        );
        response.socket?.end();
      },
    ],
  ])('by %s', async (_how, behavior) => {
    files.answer(behavior);
    const error = await saveTo(path, await client.download(anItem())).catch((thrown) => thrown);

    expect(error).toBeInstanceOf(DownloadError);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('by an abort', async () => {
    const controller = new AbortController();
    files.answer((_seen, response) => {
      response.writeHead(200, { 'content-length': BYTES.length });
      response.write(BYTES.subarray(0, 1000), () => controller.abort());
    });
    const download = client.download(anItem(), { signal: controller.signal });
    const error = await download.then((opened) => saveTo(path, opened)).catch((thrown) => thrown);

    expect(error).toBeInstanceOf(AbortedError);
    expect(readdirSync(folder)).toEqual([]);
  });
});

test('A stream that gives more bytes than were announced fails, and leaves no file', async () => {
  const lying = new GenerationClient({
    baseUrl: api.url,
    apiKey: 'gsk_test',
    fetch: async () => new Response('12345678901', { headers: { 'content-length': '10' } }),
  });
  const download = async () => lying.download(anItem());

  await expect((await download()).bytes()).rejects.toThrow('The file has 10 bytes; 11 came.');
  expect(await saveTo(path, await download()).catch((thrown) => thrown)).toBeInstanceOf(DownloadError);
  expect(readdirSync(folder)).toEqual([]);
});

describe('a file cannot be had', () => {
  const failure = (item: Parameters<GenerationClient['download']>[0]) =>
    client.download(item).catch((thrown) => thrown);

  test('when it could not be stored', async () => {
    files.answer(whole);
    const { url: _url, ...lost } = anItem();

    expect(await failure({ ...lost, error: { code: 'storage_failed' } })).toBeInstanceOf(DownloadError);
    expect(files.seen).toEqual([]);
  });

  test('when its time is over, which needs no read', async () => {
    files.answer(forbidden);

    expect(await failure(anItem({ expiresAt: '2020-01-01T00:00:00.000Z' }))).toBeInstanceOf(ExpiredError);
    expect(api.seen).toEqual([]);
  });

  test('when the record has expired', async () => {
    files.answer(forbidden);
    api.answer(json(200, { requestId: 'img_1', status: 'expired' }));

    expect(await failure(anItem())).toBeInstanceOf(ExpiredError);
  });

  test('when a fresh URL is refused as well', async () => {
    files.answer(forbidden);
    api.answer(json(200, { requestId: 'vid_1', status: 'succeeded', videos: [anItem({ id: 'vid_1_0' })] }));
    const error = await failure(anItem({ id: 'vid_1_0' }));

    expect(error).toBeInstanceOf(DownloadError);
    expect(error).not.toBeInstanceOf(ExpiredError);
    expect(api.seen.map((seen) => seen.path)).toEqual(['/v1/videos/vid_1']);
  });

  test.each<[string, Behavior]>([
    ['does not answer', hangUp],
    ['fails', (_seen, response) => void response.writeHead(500).end()],
  ])('when its server %s', async (_what, behavior) => {
    files.answer(behavior);

    expect(await failure(anItem())).toBeInstanceOf(DownloadError);
  });
});
