import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { FileNotFetchedError, fetchFile } from '../../../../core/files/fetch-file.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { LoopbackServer } from '../../servers/loopback-server.ts';

const MEGABYTE = 1024 * 1024;
const server = await new LoopbackServer().start();
beforeEach(() => server.reset());
afterAll(() => server.close());

const fetched = (maxBytes: number) =>
  withEnvironment({ ALLOW_PRIVATE_TARGETS: 'true' }, () =>
    fetchFile(`${server.url}/a`, maxBytes, AbortSignal.timeout(10_000)),
  );

describe('a file of a caller', () => {
  test('is taken up to its limit, whole', async () => {
    const file = Buffer.alloc(MEGABYTE, 1);
    server.respond = (_, response) => response.end(file);

    // Compared at once: "toEqual" compares a million bytes one by one.
    expect(file.equals(await fetched(MEGABYTE))).toBe(true);
  });

  test.each([
    ['a megabyte', MEGABYTE, '1 MB'],
    ['a megabyte and a half, in whole megabytes', 1.5 * MEGABYTE, '1 MB'],
  ])('is refused by its size where the limit is %s', async (_, maxBytes, limit) => {
    server.respond = (_request, response) => response.end(Buffer.alloc(maxBytes + 1));

    await expect(fetched(maxBytes)).rejects.toThrow(new FileNotFetchedError(`is larger than ${limit}`));
  });

  test('that ends before its length is said to have broken off', async () => {
    server.respond = (_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('0123456789', () => response.destroy());
    };

    await expect(fetched(MEGABYTE)).rejects.toThrow('could not be fetched: the file broke off');
  });

  test('that is not there is told by the status', async () => {
    server.respond = (_, response) => response.writeHead(404).end();

    await expect(fetched(MEGABYTE)).rejects.toMatchObject({ name: 'FileNotFetchedError', status: 404 });
  });
});
