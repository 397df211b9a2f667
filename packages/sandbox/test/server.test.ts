import { describe, expect, test } from '@jest/globals';
import { startSandbox } from '../src/server.ts';
import { aSandbox, aStudioRequest, useSandbox } from './sandbox-client.ts';

type RunningSandbox = Awaited<ReturnType<typeof aSandbox>>;

// Its files are made up.
const sandbox = useSandbox({ fetchInputs: false });

const ARK = '/api/v3/images/generations';
const STUDIO = '/api/v1/services/aigc/multimodal-generation/generation';

const arkError = (code: string, type: string) => ({
  error: { code, type, param: expect.any(String), message: expect.stringContaining(' Request id: 02') },
});
const studioError = (code: string) => ({ code, message: expect.any(String), request_id: expect.any(String) });

describe('the sandbox server', () => {
  test.each([
    ['no key', ''],
    ['a wrong key', 'Bearer other-key'],
    ['a key of another scheme', 'Basic test-key'],
  ])('refuses %s in the format of each upstream', async (_, authorization) => {
    const ark = await sandbox.call('POST', ARK, {}, { authorization });
    const studio = await sandbox.call('POST', STUDIO, {}, { authorization });
    const task = await sandbox.call('GET', '/api/v1/tasks/1', undefined, { authorization });

    expect([ark.status, studio.status, task.status]).toEqual([401, 401, 401]);
    expect(await ark.json()).toEqual(arkError('AuthenticationError', 'Unauthorized'));
    expect(await studio.json()).toEqual(studioError('InvalidApiKey'));
    expect(await task.json()).toEqual(studioError('InvalidApiKey'));
  });

  test.each([
    ['GET', '/api/v3/images/generations'],
    ['POST', '/api/v3/images'],
    ['GET', '/'],
  ])("returns ModelArk's 404 for %s %s", async (method, path) => {
    const response = await sandbox.call(method, path);

    expect(response.status).toBe(404);
    expect(await response.json()).toEqual(arkError('NotFound', 'NotFound'));
  });

  test.each([
    ['GET', STUDIO],
    ['POST', '/api/v1/services/aigc/other'],
    ['DELETE', '/api/v1/tasks/1'],
  ])("returns Model Studio's 404 for %s %s", async (method, path) => {
    const response = await sandbox.call(method, path);

    expect(response.status).toBe(404);
    expect(await response.json()).toEqual(studioError('NotFound'));
  });

  test.each(['{"model":', '[]', '"text"', 'null'])('refuses the body %s', async (body) => {
    const ark = await sandbox.call('POST', ARK, body);
    const studio = await sandbox.call('POST', STUDIO, body);

    expect([ark.status, studio.status]).toEqual([400, 400]);
    expect(await ark.json()).toEqual(arkError('InvalidParameter', 'BadRequest'));
    expect(await studio.json()).toEqual(studioError('InvalidParameter'));
  });

  test('accepts a reference of many megabytes and refuses a body over 32 MiB', async () => {
    const image = (megabytes: number) => `data:image/png;base64,${'A'.repeat(megabytes * 1024 * 1024)}`;

    const ark = await sandbox.arkImages({ prompt: 'a red fox', image: image(24) });
    const tooLarge = await sandbox.arkImages({ prompt: 'a red fox', image: image(32) });

    expect([ark.status, tooLarge.status]).toEqual([200, 413]);
    expect(await tooLarge.json()).toEqual(arkError('InvalidParameter', 'BadRequest'));
  });

  test('returns 404 for an unknown output, and answers HEAD', async () => {
    const created = await sandbox.arkImages({ prompt: 'a red fox' });
    const { data } = (await created.json()) as { data: { url: string }[] };
    const path = new URL(data[0]?.url ?? '').pathname;

    const head = await sandbox.call('HEAD', path);
    const otherType = await sandbox.call('GET', path.replace('.jpeg', '.png'));
    const deleted = await sandbox.call('DELETE', path);

    expect(head.status).toBe(200);
    expect(Number(head.headers.get('content-length'))).toBeGreaterThan(1_000);
    expect([otherType.status, deleted.status]).toEqual([404, 404]);
  });

  test.each([
    ['ModelArk', ({ arkImages }: RunningSandbox) => arkImages({ prompt: 'a fox [fail=timeout]' })],
    [
      'Model Studio',
      ({ studioImages }: RunningSandbox) => studioImages(aStudioRequest({ prompt: 'a fox [fail=timeout]' })),
    ],
    ['a delay', ({ arkImages }: RunningSandbox) => arkImages({ prompt: 'a fox [delay=60]' })],
  ])('close ends an open connection at once: %s', async (_, call) => {
    const own = await aSandbox();
    const open = call(own).then(
      () => 'answered',
      () => 'cut off',
    );
    // The response to a later call shows that the open one has arrived.
    await own.arkImages({ prompt: 'a fox [delay=0.1]' });
    const startedAt = performance.now();

    await own.close();

    expect(await open).toBe('cut off');
    // The open one would last a minute or for ever.
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  test('keeps serving after a client disconnected', async () => {
    const impatient = fetch(sandbox.url + ARK, {
      method: 'POST',
      headers: { authorization: 'Bearer test-key' },
      body: JSON.stringify({ model: 'seedream-4-5', size: '2K', prompt: 'a fox [fail=timeout]' }),
      signal: AbortSignal.timeout(50),
    });

    await expect(impatient).rejects.toThrow('timeout');
    const answer = await sandbox.arkImages({ prompt: 'a red fox' });
    expect(answer.status).toBe(200);
  });

  test('receives webhooks without a key, whatever they hold', async () => {
    const post = await fetch(`${sandbox.url}/sandbox/webhooks`, { method: 'POST', body: '{' });
    const get = await fetch(`${sandbox.url}/sandbox/webhooks`);

    expect([post.status, await post.text(), get.status]).toEqual([204, '', 405]);
  });

  test('rejects a port that is taken', async () => {
    const port = Number(new URL(sandbox.url).port);

    await expect(startSandbox({ port })).rejects.toThrow('EADDRINUSE');
  });
});
