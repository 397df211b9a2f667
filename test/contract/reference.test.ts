import { beforeAll, describe, expect, test } from '@jest/globals';
import { sharedService } from './support/client.ts';
import { openApi } from './support/declared-answers.ts';

let baseUrl: string;
beforeAll(async () => {
  ({ baseUrl } = await sharedService());
});

const get = (path: string): Promise<Response> => fetch(baseUrl + path);

describe('Without a key, at the address of the API', () => {
  test('/openapi.json is the document, with this address as its server', async () => {
    const answer = await get('/openapi.json');

    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await answer.json()).toEqual({
      ...openApi,
      servers: [{ url: baseUrl, description: 'This API.' }],
    });
  });

  test('/docs is the reference page, and everything that it loads is here', async () => {
    const page = await get('/docs');
    const html = await page.text();
    const loaded = [...html.matchAll(/(?:src|href|spec-url)="(\/[^"]*)"/g)].map(([, path = '']) => path);
    const answers = await Promise.all(loaded.map(get));

    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(loaded).toContain('/docs/redoc.standalone.js');
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    for (const { headers } of [page, ...answers]) {
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'self';/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
    }
    await Promise.all(answers.map((answer) => answer.arrayBuffer()));
  });

  test('nothing else of the bucket is', async () => {
    const answers = await Promise.all(
      ['/docs/other.js', '/docs/', '/files/outputs/a', `/docs/${'a'.repeat(300)}`].map(get),
    );

    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    expect((await get('/docsx')).status).toBe(404);
  });
});
