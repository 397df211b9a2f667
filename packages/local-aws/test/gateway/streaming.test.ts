import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { createFunctionRuntime } from '../../src/functions/runtime.ts';
import type { RouteSpec } from '../../src/template/api.ts';
import { aFunction } from './a-function.ts';
import { anApi, aRoute, send, useDoors } from './an-api.ts';

const folder = mkdtempSync(join(tmpdir(), 'streaming-'));
const functions = [aFunction('stream'), aFunction('stream', { name: 'plain', handlerExport: 'plain' })];
const runtime = createFunctionRuntime({
  functions,
  awsEndpointUrl: 'http://127.0.0.1:1',
  callAws: async () => 'lost',
  logDirectory: join(folder, 'logs'),
  codeCacheDirectory: join(folder, 'code-cache'),
});
afterAll(async () => {
  await runtime.close();
  rmSync(folder, { recursive: true, force: true });
});

const streamed = (route: RouteSpec): RouteSpec => ({
  ...route,
  integration: { ...route.integration, isStreamed: true } as RouteSpec['integration'],
});
const routes = [
  streamed(aRoute('GET', '/streamed', 'stream')),
  streamed(aRoute('GET', '/plain', 'plain')),
  streamed(aRoute('GET', '/short', 'stream', 550)),
  streamed(aRoute('GET', '/shortest', 'stream', 50)),
  aRoute('GET', '/buffered', 'stream'),
];
const { open } = useDoors();
const openStreams = () => open(anApi({ routes }), () => ({ payload: null }), { invoke: runtime.invoke });
const answerTo = async (path: string, behaviour: string) => {
  const door = await openStreams();
  return send(door.baseUrl, `${path}?do=${encodeURIComponent(behaviour)}`);
};

describe('A streamed response', () => {
  test('reaches the client part by part, while the function works', async () => {
    const door = await openStreams();
    const file = join(folder, 'go-on');
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    httpRequest(`${door.baseUrl}/streamed?do=parts&until=${encodeURIComponent(file)}`, resolve)
      .on('error', reject)
      .end();
    const response = await promise;

    const parts: string[] = [];
    for await (const part of response) {
      parts.push(String(part));
      writeFileSync(file, '');
    }
    expect(parts).toEqual(['one ', 'two']);
    expect([response.statusCode, response.headers['x-custom'], response.headers['content-length']]).toEqual([
      201,
      'yes',
      undefined,
    ]);
  });

  test('may be larger than the payload of a function', async () => {
    const { statusCode, body } = await answerTo('/streamed', 'large');

    expect([statusCode, body.length]).toEqual([201, 10_000_000]);
  });

  test.each([
    ['ends with its handler', 'without an end', 201, 'one'],
    ['may have no body', 'empty', 204, ''],
  ])('%s', async (_title, behaviour, status, text) => {
    const { statusCode, body } = await answerTo('/streamed', behaviour);

    expect([statusCode, body.toString()]).toEqual([status, text]);
  });
});

describe('Instead of a streamed response the gateway answers', () => {
  test.each([
    ['a function that fails first', '/streamed', 'throw first', 502],
    ['a stream without metadata', '/streamed', 'no metadata', 502],
    ['metadata without a status', '/streamed', 'no status', 502],
    ['more than 16 KB of metadata', '/streamed', 'too much metadata', 502],
    ['a function that does not stream', '/plain', '', 502],
    ['a function that streams where it must not', '/buffered', 'empty', 502],
    ['a function that takes too long', '/shortest', 'hang', 504],
  ])('%s', async (_title, path, behaviour, status) => {
    expect((await answerTo(path, behaviour)).statusCode).toBe(status);
  });

  test.each([
    ['fails', '/streamed', 'throw later'],
    ['takes too long', '/short', 'hang later'],
  ])(
    'nothing more, and breaks the connection, once the body has begun and the function %s',
    async (_title, path, behaviour) => {
      await expect(answerTo(path, behaviour)).rejects.toMatchObject({ code: 'ECONNRESET' });
    },
  );
});
