import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fetchInputs } from '../src/fetch-inputs.ts';
import { isFetched } from '../src/open-file.ts';

describe('the addresses that files are fetched from', () => {
  test.each<[string, string, boolean, boolean]>([
    ['93.184.216.34', 'https:', true, true],
    ['93.184.216.34', 'http:', false, false],
    ['2606:4700::1111', 'https:', true, true],
    ['127.0.0.1', 'https:', true, false],
    ['127.0.0.1', 'http:', true, false],
    ['::1', 'http:', true, false],
    ['192.168.1.2', 'https:', true, false],
    ['192.168.1.2', 'http:', false, false],
    ['fd12::1', 'https:', true, false],
    ['169.254.169.254', 'https:', false, false],
    ['fd00:ec2::254', 'https:', false, false],
    ['::ffff:169.254.169.254', 'https:', false, false],
    ['fe80::1', 'https:', false, false],
    ['0.0.0.0', 'http:', false, false],
    ['255.255.255.255', 'https:', false, false],
    ['not an address', 'https:', false, false],
  ])('%s by %s: %s, and without private ones %s', (address, protocol, local, strict) => {
    expect(isFetched(address, protocol, {})).toBe(local);
    expect(isFetched(address, protocol, { allowPrivate: false })).toBe(strict);
  });
});

describe('the file of a call', () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(302, { location: '/elsewhere' }).end();
  });
  const check = (url: string, allowPrivate?: boolean) =>
    fetchInputs('wan3.0-video', [{ kind: 'image', url, field: 'image' }], { allowPrivate });
  const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  afterAll(() => void server.close());

  test('is not looked for elsewhere', async () => {
    expect((await check(`${origin()}/file`)).problem?.fault).toEqual({
      ...{ is: 'missing', reason: 'its server answered 302' },
    });
    expect(asked).toEqual(['/file']);
  });

  test.each(['http://169.254.169.254/latest/meta-data/', 'https://[fe80::1]/'])(
    'is not at %s',
    async (url) => {
      expect((await check(url)).problem).toMatchObject({
        fault: { is: 'missing', reason: 'it could not be downloaded' },
      });
    },
  );

  test('is not at a name of this machine where private addresses are refused', async () => {
    const before = asked.length;
    const url = `${origin().replace('127.0.0.1', 'localhost')}/file`;

    expect((await check(url, false)).problem?.fault).toMatchObject({ is: 'missing' });
    expect(asked).toHaveLength(before);
  });
});
