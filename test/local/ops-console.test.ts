import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { type IncomingHttpHeaders, request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type AService, identityOf, startProcess, startService } from './a-service.ts';

let service: AService;
let ops: ChildProcess;
let address: URL;
let token: string;
let accountId: string;
beforeAll(async () => {
  service = await startService();
  ({ accountId } = await service.json<{ accountId: string }>('accounts', 'create', '--name', 'Acme'));
  service.callers.clear();
  const endpoint = { AWS_ENDPOINT_URL: service.endpointUrl };
  const credentials = { AWS_ACCESS_KEY_ID: 'STAFF', AWS_SECRET_ACCESS_KEY: 'secret' };
  const place = ['--stack', 'Deployed', '--region', 'eu-west-1'];
  ops = startProcess(['console', ...place, '--actor', 'Ada'], { ...endpoint, ...credentials });
  if (!ops.stdout) throw new Error('It prints nothing.');
  const [line] = await once(createInterface({ input: ops.stdout }), 'line');
  address = new URL(/^Console of stack Deployed: (\S+)$/.exec(String(line))?.[1] ?? '');
  token = address.hash.split('=')[1] ?? '';
});
afterAll(async () => {
  ops.kill('SIGKILL');
  await service.stop();
});

interface Answer {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  body: string;
}

interface Sent {
  method?: string;
  headers?: Record<string, string | undefined>;
  body?: string;
  host?: string;
}

/** Sends a call as a page of the console does, but for what is given. Not by `fetch`, which sets `Host` itself. */
const call = async (path: string, { method = 'GET', headers, body, host }: Sent = {}): Promise<Answer> => {
  const given = { host: address.host, authorization: `Bearer ${token}`, origin: address.origin, ...headers };
  const sent = request({
    ...{ host: host ?? address.hostname, port: address.port, method, path, agent: false },
    headers: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [import('node:http').IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
};
const json = async (path: string, sent?: Sent): Promise<unknown> => JSON.parse((await call(path, sent)).body);

describe('ops console', () => {
  test('prints an address on loopback, with a token of 256 bits that is sent to nobody', () => {
    expect(address).toMatchObject({ protocol: 'http:', hostname: '127.0.0.1', pathname: '/console' });
    expect(address.hash).toMatch(/^#operator-only=[\w-]{43}$/);
  });

  test('serves the page and its files, which load from here only', async () => {
    const page = await call('/console');

    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringMatching(/^default-src 'self'; .*frame-ancestors 'none'$/),
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    });
    expect(page.body).toContain('/console/console.js');
    for (const [file, type] of [
      ['console.js', 'text/javascript; charset=utf-8'],
      ['console.css', 'text/css; charset=utf-8'],
    ]) {
      const { status, headers, body } = await call(`/console/${file}`);
      expect([status, headers['content-type']]).toEqual([200, type]);
      expect(body.length).toBeGreaterThan(1_000);
    }
    expect(page.body + (await call('/console/console.js')).body).not.toContain(token);
  });

  test('leads from / to the console, and from /docs to the reference of the stack', async () => {
    expect(await call('/')).toMatchObject({ status: 302, headers: { location: '/console' } });
    expect(await call('/docs')).toMatchObject({
      status: 302,
      headers: { location: 'https://files.example.com/docs' },
    });
  });

  test('shows accounts, rates and routes of the stack, read with the credentials of the shell', async () => {
    expect(await json('/operator/accounts')).toMatchObject([{ accountId, name: 'Acme' }]);
    expect(await json('/operator/rates')).toContainEqual(expect.objectContaining({ model: 'xSD4.5' }));
    expect(await json('/operator/routes')).toContainEqual(
      expect.objectContaining({ model: 'xSD4.5', provider: 'modelark', upstreamModel: 'one' }),
    );
    expect(await json('/operator/version')).toMatchObject({ service: 'stack Deployed' });
    expect([...service.callers]).toEqual(['STAFF']);
  });

  test('says why a command is refused', async () => {
    expect(await call('/operator/requests/img_none')).toMatchObject({
      status: 400,
      body: JSON.stringify({ error: { message: 'There is no request img_none.' } }),
    });
  });

  test('tops an account up once for each idempotency key, and shows the audit', async () => {
    const topUp = { method: 'POST', body: '{"amount":"2.5","note":"by card","idempotencyKey":"once"}' };
    for (const path of [`/operator/accounts/${accountId}/topups`, `/operator/accounts/${accountId}/topups`])
      expect(await json(path, topUp)).toMatchObject({ amount: 2.5, balanceAfter: 2.5 });
    expect(await json('/operator/audit')).toMatchObject([
      { action: 'balance topup' },
      { action: 'accounts create' },
    ]);

    const wrong = { method: 'POST', body: '{"amount":"-1","idempotencyKey":"twice"}' };
    expect((await call(`/operator/accounts/${accountId}/topups`, wrong)).body).toBe(
      JSON.stringify({ error: { message: 'It must be more than 0.' } }),
    );
  });

  test('makes changes that are recorded with who made them', async () => {
    const made = (await json(`/operator/accounts/${accountId}/keys`, {
      method: 'POST',
      body: '{"label":"web"}',
    })) as { keyId: string };
    await json(`/operator/keys/${made.keyId}`, { method: 'DELETE' });

    const who = { actor: 'Ada', identity: identityOf('STAFF'), accountId, subject: made.keyId };
    expect(await service.json('audit', 'list', '--limit', '2')).toMatchObject([
      { ...who, action: 'keys revoke' },
      { ...who, action: 'keys create', detail: 'label "web"' },
    ]);
  });

  test('refuses the API, which is not here', async () => {
    expect((await call('/v1/models')).status).toBe(404);
  });
});

describe('ops console refuses', () => {
  const create = { method: 'POST', body: '{"label":"attack"}' };

  test.each<[string, number, Record<string, string | undefined>]>([
    ['a call without the token', 401, { authorization: undefined }],
    ['a wrong token', 401, { authorization: `Bearer ${'A'.repeat(43)}` }],
    ['the token in a cookie only', 401, { authorization: undefined, cookie: 'operator=TOKEN' }],
    ['a page of another site', 403, { origin: 'https://example.com' }],
    ['a page of another port of this machine', 403, { origin: 'http://127.0.0.1:1' }],
    ['a sandboxed frame', 403, { origin: 'null' }],
    ['a form of another site without an origin', 403, { origin: undefined, 'sec-fetch-site': 'cross-site' }],
    ['a name that DNS led here', 403, { host: 'rebound.example.com' }],
    ['this machine by another name', 403, { host: 'localhost' }],
  ])('%s, also one that knows the token, and changes nothing', async (_title, status, given) => {
    const headers = { ...given, cookie: given.cookie?.replace('TOKEN', token) };
    const before = await service.json('audit', 'list');

    expect((await call('/operator/accounts', { headers })).status).toBe(status);
    expect((await call(`/operator/accounts/${accountId}/keys`, { ...create, headers })).status).toBe(status);
    expect(await service.json('audit', 'list')).toEqual(before);
  });

  test('its files to a name that DNS led here', async () => {
    const headers = { host: `rebound.example.com:${address.port}` };

    expect((await call('/console', { headers })).status).toBe(403);
    expect((await call('/', { headers })).headers.location).toBeUndefined();
  });

  test('other origins in every answer: no header lets their scripts read it', async () => {
    const preflight = { 'access-control-request-method': 'POST', origin: 'https://example.com' };
    const answers = [
      await call('/operator/accounts', { method: 'OPTIONS', headers: preflight }),
      await call('/operator/accounts'),
      await call('/console', { headers: { origin: 'https://example.com' } }),
    ];

    expect(answers[0]?.status).toBe(403);
    for (const { headers } of answers)
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  test.each([
    '/../package.json',
    '/console/../../package.json',
    '/console/%2e%2e/console.html',
    '//etc/passwd',
  ])('the path %s', async (path) => {
    expect((await call(path)).status).toBe(404);
  });

  test('connections to other addresses of this machine', async () => {
    const others = Object.values(networkInterfaces())
      .flatMap((each) => each ?? [])
      .filter(({ family, internal }) => family === 'IPv4' && !internal);

    for (const { address: host } of [...others, { address: '127.0.0.2' }])
      await expect(call('/console', { host })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});

test('Ctrl-C ends ops console with status 0, and nothing listens any more', async () => {
  const ended = once(ops, 'exit');
  ops.kill('SIGINT');

  expect(await ended).toEqual([0, null]);
  await expect(call('/console')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});
