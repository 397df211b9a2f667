import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createOperatorEndpoint } from '../../../ops/console/endpoint.ts';
import type { Said } from '../../../ops/verb.ts';

const ACCOUNT = { apiKey: 'gsk_1' };
const TOKEN = 'token-of-this-run';

let server: Server;
let host: string;
/** The commands that were run, and what they answer. */
let ran: (readonly string[])[];
let said: Said;
beforeAll(async () => {
  server = createServer((call, response) => void handle(call, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const handle = createOperatorEndpoint({
    baseUrl: `http://${host}`,
    token: TOKEN,
    run: async (args) => {
      ran.push(args);
      return said;
    },
    account: () => ACCOUNT,
  });
});
beforeEach(() => {
  ran = [];
  said = { stdout: '{"some":"thing"}', stderr: '', status: 0 };
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

/** Sends a call with the headers that a page of the run sends, and these. Not by `fetch`, which sets `Host` itself. */
const call = async (
  method: string,
  path: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: string } = {},
) => {
  const sent = request({
    ...{ host: '127.0.0.1', port: host.split(':')[1], method, path, agent: false },
    headers: { host, authorization: `Bearer ${TOKEN}`, 'sec-fetch-site': 'same-origin', ...headers },
  });
  sent.end(body);
  const answer = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).once('error', reject);
  });
  return { status: answer.statusCode, headers: answer.headers, body: JSON.parse(await text(answer)) };
};

describe('The operator’s endpoint', () => {
  const KEYS = '/operator/accounts/acc_1/keys';
  const RATE = '{"perSecond":{"720p":5,"1080p":8}}';
  test.each<[string, string, string | undefined, string[]]>([
    ['GET', '/operator/requests/img_1', undefined, ['requests', 'show', '--id=img_1']],
    ['GET', '/operator/requests/--account%3Dx', undefined, ['requests', 'show', '--id=--account=x']],
    ['POST', '/operator/requests/img_1/webhook', undefined, ['requests', 'retry-webhook', '--id=img_1']],
    ['GET', '/operator/accounts', undefined, ['accounts', 'list']],
    ['GET', KEYS, undefined, ['keys', 'list', '--account=acc_1']],
    ['POST', KEYS, '{"label":"a b"}', ['keys', 'create', '--account=acc_1', '--label=a b']],
    ['POST', KEYS, undefined, ['keys', 'create', '--account=acc_1', '--label=']],
    ['GET', '/operator/requests', undefined, ['requests', 'list']],
    [
      ...(['GET', '/operator/requests?account=acc_1&status=failed&page=2&limit=9&json=', undefined] as const),
      ['requests', 'list', '--account=acc_1', '--status=failed', '--page=2'],
    ],
    [
      ...([
        'POST',
        '/operator/accounts/acc_1/topups',
        '{"amount":"5","note":"a","idempotencyKey":"k"}',
      ] as const),
      ['balance', 'topup', '--account=acc_1', '--amount=5', '--note=a', '--idempotency-key=k'],
    ],
    [
      ...(['GET', '/operator/accounts/acc_1/end-users?search=ada%2Bx', undefined] as const),
      ['end-users', 'list', '--account=acc_1', '--search=ada+x'],
    ],
    ['GET', '/operator/audit', undefined, ['audit', 'list']],
    ['GET', '/operator/routes', undefined, ['routes', 'list']],
    ['GET', '/operator/version', undefined, ['version']],
    ['DELETE', '/operator/keys/key_1', undefined, ['keys', 'revoke', '--key-id=key_1']],
    ['GET', '/operator/rates', undefined, ['rates', 'list']],
    [
      'PUT',
      '/operator/rates/xW2.7S',
      RATE,
      ['rates', 'set', '--model=xW2.7S', '--value={"720p":5,"1080p":8}'],
    ],
  ])('answers %s %s (%s) with what a command prints', async (method, path, body, command) => {
    const answer = await call(method, path, body === undefined ? {} : { body });

    expect(ran).toEqual([command]);
    expect(answer).toMatchObject({ status: 200, body: { some: 'thing' } });
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
  });

  test('gives the key of the first account', async () => {
    expect((await call('GET', '/operator/key')).body).toEqual({ apiKey: 'gsk_1' });
  });

  test('says what the command said when it was refused', async () => {
    said = { stdout: '', stderr: 'There is no request img_1.\n', status: 1 };

    expect(await call('GET', '/operator/requests/img_1')).toMatchObject({
      status: 400,
      body: { error: { message: 'There is no request img_1.' } },
    });
  });

  test('says what a refused value must be, and nothing of the command line', async () => {
    const refused = "error: option '--amount <xTokens>' argument 'x' is invalid. It must be more than 0.";
    said = { stdout: '', stderr: `${refused}\nAdd --help to see what can be given.\n`, status: 2 };

    expect(await call('POST', '/operator/accounts/acc_1/topups', { body: '{"amount":"x"}' })).toMatchObject({
      status: 400,
      body: { error: { message: 'It must be more than 0.' } },
    });
  });

  test.each<[string, number, Record<string, string>]>([
    ['a wrong token', 401, { authorization: 'Bearer other' }],
    ['no token', 401, { authorization: '' }],
    ['a page of another site', 403, { origin: 'https://example.com', 'sec-fetch-site': 'cross-site' }],
    ['a page of another port', 403, { origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' }],
    ['a page that is opened by name', 403, { origin: 'http://localhost:3000' }],
    ['a name that DNS led here', 403, { host: 'rebound.example.com' }],
    ['a link from elsewhere', 403, { 'sec-fetch-site': 'none' }],
  ])('refuses %s, and runs nothing', async (_title, status, headers) => {
    expect(await call('GET', '/operator/accounts', { headers })).toMatchObject({
      status,
      body: { error: { message: expect.any(String) } },
    });
    expect(ran).toEqual([]);
  });

  test.each([
    ['an unknown route', 'GET', '/operator/keys', '', 404],
    ['a method that a route does not have', 'POST', '/operator/rates', '{}', 404],
    ['a body that is no JSON', 'POST', '/operator/accounts/acc_1/keys', '{', 400],
    [
      'a body that is too long',
      'POST',
      '/operator/accounts/acc_1/keys',
      JSON.stringify('x'.repeat(20_000)),
      413,
    ],
  ])('refuses %s', async (_title, method, path, body, status) => {
    expect((await call(method, path, { body })).status).toBe(status);
    expect(ran).toEqual([]);
  });
});
