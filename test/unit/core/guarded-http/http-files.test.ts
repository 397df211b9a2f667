import { buffer } from 'node:stream/consumers';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { openFile } from '../../../../core/guarded-http/http-files.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { aClosedUrl, LoopbackServer } from '../../servers/loopback-server.ts';

const server = await new LoopbackServer().start();
beforeEach(() => server.reset());
afterAll(() => server.close());

const open = (url: string, signal = AbortSignal.timeout(20_000)) =>
  withEnvironment({ ALLOW_PRIVATE_TARGETS: 'true' }, () => openFile(url, signal));
const unavailable = (retryable: boolean) => ({ name: 'FileUnavailableError', retryable });

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
    await expect(open(url)).rejects.toMatchObject(unavailable(false));
  });

  test('of plain http: is fetched by https:, so its address decides, and not its protocol', async () => {
    for (const [url, reason] of [
      ['http://127.0.0.1/a', 'address'],
      ['http://127.0.0.1:8080/a', 'protocol'],
    ] as const) {
      await expect(openFile(url, AbortSignal.timeout(20_000))).rejects.toMatchObject({
        ...unavailable(false),
        cause: { name: 'TargetRefusedError', reason },
      });
    }
  });

  test('where nobody listens may be tried again', async () => {
    await expect(open(await aClosedUrl())).rejects.toMatchObject(unavailable(true));
  });

  test('after its time limit is retryable: the next attempt has its own', async () => {
    await expect(open(server.url, AbortSignal.abort())).rejects.toMatchObject(unavailable(true));
    expect(server.requests).toEqual([]);
  });

  test.each([
    [404, false],
    [302, false],
    [206, false],
    [429, true],
    [503, true],
  ])('with status %p is retryable: %p', async (status, retryable) => {
    server.answer(status, 'no');

    await expect(open(server.url)).rejects.toMatchObject(unavailable(retryable));
  });
});
