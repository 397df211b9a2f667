import { afterEach, describe, expect, test } from '@jest/globals';
import { type FunctionUrl, startFunctionUrl } from '../../src/functions/function-url.ts';
import { functionUrlSpecs } from '../../src/template/function-urls.ts';
import { createResolver } from '../../src/template/resolver.ts';
import type { InvocationResult } from '../../src/types.ts';

const ARN = 'arn:aws:lambda:us-east-1:000000000000:function:Echo';
const open: FunctionUrl[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

const start = async (answer: (event: Record<string, unknown>) => InvocationResult) => {
  const events: Record<string, unknown>[] = [];
  const server = await startFunctionUrl(ARN, async (functionArn, event) => {
    expect(functionArn).toBe(ARN);
    events.push(event as Record<string, unknown>);
    return answer(event as Record<string, unknown>);
  });
  open.push(server);
  return { url: server.url, events };
};
const ok = (payload: unknown) => () => ({ payload });

describe('a function URL', () => {
  test('gives the function an event of format 2.0', async () => {
    const { url, events } = await start(ok({ statusCode: 204 }));
    const body = JSON.stringify({ prompt: 'ü' });
    await fetch(`${url}a/b%20c?x=1&x=2&y=`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie: 'a=1; b=2', 'X-Own': 'me' },
      body,
    });

    expect(events).toMatchObject([
      {
        version: '2.0',
        rawPath: '/a/b%20c',
        rawQueryString: 'x=1&x=2&y=',
        queryStringParameters: { x: '1,2', y: '' },
        cookies: ['a=1', 'b=2'],
        headers: { 'x-own': 'me', host: new URL(url).host, 'x-forwarded-proto': 'http' },
        requestContext: { domainName: '127.0.0.1', http: { method: 'POST', path: '/a/b%20c' } },
        body,
        isBase64Encoded: false,
      },
    ]);
  });

  test('gives bytes in base64, and nothing where there is no body', async () => {
    const { url, events } = await start(ok({ statusCode: 200 }));
    await fetch(url, {
      method: 'PUT',
      body: Buffer.from([0, 255]),
      headers: { 'content-type': 'image/png' },
    });
    await fetch(url);

    expect(events).toMatchObject([{ body: 'AP8=', isBase64Encoded: true }, { isBase64Encoded: false }]);
    expect(events[1]).not.toHaveProperty('body');
  });

  test('sends what the function answers: status, headers, text or bytes', async () => {
    const { url } = await start((event) => ({
      payload:
        event.rawPath === '/bytes'
          ? { statusCode: 200, headers: { 'Content-Type': 'image/png' }, body: 'AP8=', isBase64Encoded: true }
          : { statusCode: 418, headers: { 'X-Own': 'a' }, body: 'text' },
    }));
    const text = await fetch(url);
    const bytes = await fetch(`${url}bytes`);

    expect([text.status, text.headers.get('x-own'), await text.text()]).toEqual([418, 'a', 'text']);
    expect([...new Uint8Array(await bytes.arrayBuffer())]).toEqual([0, 255]);
  });

  test('sends any other value as the JSON of a 200', async () => {
    const { url } = await start(ok({ hello: 'world' }));
    const answer = await fetch(url);

    expect([answer.status, await answer.json()]).toEqual([200, { hello: 'world' }]);
  });

  test.each<[string, () => InvocationResult, number]>([
    ['fails', () => ({ payload: {}, functionError: 'Unhandled' }), 502],
    ['answers no HTTP', ok({ statusCode: 'many' }), 502],
    [
      'is throttled',
      () => {
        throw Object.assign(new Error('Rate exceeded'), { name: 'TooManyRequestsException' });
      },
      429,
    ],
  ])('of a function that %s is %#', async (_, answer, status) => {
    const { url } = await start(answer);

    expect((await fetch(url)).status).toBe(status);
  });

  test('takes 6 MB and not more', async () => {
    const { url, events } = await start(ok({ statusCode: 200 }));
    const send = async (bytes: number) =>
      (await fetch(url, { method: 'POST', body: Buffer.alloc(bytes) })).status;

    expect([await send(6 * 1024 * 1024 + 1), events.length]).toEqual([413, 0]);
    expect(await send(6 * 1024 * 1024)).toBe(200);
  });
});

describe('a function URL of a template', () => {
  const specsOf = (Properties: Record<string, unknown>) =>
    functionUrlSpecs(
      createResolver(
        {
          Resources: {
            Url: { Type: 'AWS::Lambda::Url', Properties: { TargetFunctionArn: ARN, ...Properties } },
          },
        },
        'Shop',
        new Map(),
      ),
    );

  test('leads to its function', () => {
    expect(specsOf({ AuthType: 'NONE' })).toEqual([{ logicalId: 'Url', functionArn: ARN }]);
  });

  test.each([{ AuthType: 'AWS_IAM' }, { AuthType: 'NONE', InvokeMode: 'RESPONSE_STREAM' }])(
    'is refused with %j',
    (properties) => {
      expect(() => specsOf(properties)).toThrow(/Url: .* function URLs/);
    },
  );
});
