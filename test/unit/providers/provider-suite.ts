import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Provider, ProviderCall } from '../../../core/provider-calls/providers.ts';
import { aClosedUrl, LoopbackServer } from '../servers/loopback-server.ts';

type Adapter = new (connection: { baseUrl: string; apiKey: string }) => Provider;

/** The provider's server in every adapter test. */
export const server = await new LoopbackServer().start();

/** The failures a request may be recorded with, by the meaning of the provider's error. */
export const FAILURE = {
  content: { code: 'content_policy', message: 'The content filter of the provider refused the request.' },
  timeout: { code: 'provider_timeout', message: 'The upstream provider timed out.' },
  access: { code: 'provider_error', message: 'The upstream provider could not process the request.' },
  error: { code: 'provider_error', message: 'The upstream provider returned an error.' },
  lost: { code: 'provider_error', message: 'The answer of the upstream provider was lost.' },
} as const;

/** A provider call with a header of its own and a body that is not ASCII. */
export const A_CALL: ProviderCall = {
  path: '/create',
  headers: { 'x-own': 'own' },
  body: { prompt: 'ünïcode' },
};
/** A signal that is never aborted. */
export const patient = (): AbortSignal => new AbortController().signal;

/** Tests the rules all adapters share for a creation without a readable answer. */
export const describeUnansweredCreations = (
  Adapter: Adapter,
  errorBody: (code: string) => Record<string, unknown>,
): void => {
  beforeEach(() => server.reset());
  afterAll(() => server.close());

  const adapterAt = (baseUrl: string) => new Adapter({ baseUrl, apiKey: 'secret-key' });
  const submit = () => adapterAt(server.url).submit(A_CALL, patient());

  describe('a creation', () => {
    test('is one POST of the body as JSON, with the key', async () => {
      server.answer(400, errorBody('SomethingNew'));
      await submit();

      expect(server.requests).toMatchObject([
        {
          method: 'POST',
          path: '/create',
          body: { prompt: 'ünïcode' },
          headers: {
            authorization: 'Bearer secret-key',
            'content-type': 'application/json',
            'x-own': 'own',
          },
        },
      ]);
    });

    test('has its own connection: a kept-alive one might close under it', async () => {
      const ports = new Set<number | undefined>();
      server.respond = (_, response) => {
        ports.add(response.socket?.remotePort);
        response.writeHead(429).end();
      };
      const provider = adapterAt(server.url);
      for (let count = 0; count < 3; count++) await provider.submit(A_CALL, patient());

      expect(ports.size).toBe(3);
    });

    test('that never reached the provider can be repeated', async () => {
      expect(await adapterAt(await aClosedUrl()).submit(A_CALL, patient())).toMatchObject({ kind: 'busy' });
    });

    test('whose connection breaks after it is sent is lost, and is not sent again', async () => {
      server.respond = (_, response) => response.socket?.destroy();

      expect(await submit()).toEqual({ kind: 'lost', failure: FAILURE.lost });
      expect(server.requests).toHaveLength(1);
    });

    test('whose answer breaks off is lost', async () => {
      server.respond = (_, response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{"data":[', () => response.socket?.destroy());
      };

      expect(await submit()).toEqual({ kind: 'lost', failure: FAILURE.lost });
    });

    test.each([
      ['before an answer', () => undefined],
      ['within an answer', (response: { write: (text: string) => void }) => response.write('{')],
    ])('aborted %s has timed out', async (_, begin) => {
      const controller = new AbortController();
      server.respond = (_request, response) => {
        begin(response);
        setImmediate(() => controller.abort());
      };

      expect(await adapterAt(server.url).submit(A_CALL, controller.signal)).toEqual({
        kind: 'failed',
        failure: FAILURE.timeout,
      });
    });

    test('aborted in advance is not sent', async () => {
      expect(await adapterAt(server.url).submit(A_CALL, AbortSignal.abort())).toEqual({
        kind: 'failed',
        failure: FAILURE.timeout,
      });
      expect(server.requests).toEqual([]);
    });

    test.each([
      [200, ''],
      [200, 'ok'],
      [200, '{}'],
      [200, '[]'],
      [200, 'null'],
      [202, '{"output":{}}'],
      [302, ''],
      [500, '<html>Internal Server Error</html>'],
      [502, ''],
      [503, '{"message":"try later"}'],
      [504, 'upstream timed out'],
    ])('answered with status %p and the unreadable body %j is lost', async (status, body) => {
      server.answer(status, body);

      expect(await submit()).toEqual({ kind: 'lost', failure: FAILURE.lost });
    });

    test.each([
      ['7', 7],
      ['0', 0],
      [new Date(Date.now() + 3_600_000).toUTCString(), expect.closeTo(3_600, -1)],
      ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
      ['soon', undefined],
      [undefined, undefined],
    ])('refused with 429 and the Retry-After %j says when to try again', async (header, seconds) => {
      for (const body of [errorBody('Throttling.SomethingNew'), '<html>no</html>']) {
        server.answer(429, body, header === undefined ? {} : { 'retry-after': header });

        expect(await submit()).toEqual({
          kind: 'busy',
          reason: expect.any(String),
          retryAfterSeconds: seconds,
        });
      }
    });

    test.each([
      [429, { kind: 'busy', reason: expect.stringContaining('429') }],
      [400, { kind: 'failed', failure: FAILURE.error }],
      [413, { kind: 'failed', failure: FAILURE.error }],
      [401, { kind: 'failed', failure: FAILURE.access }],
      [403, { kind: 'failed', failure: FAILURE.access }],
      [404, { kind: 'failed', failure: FAILURE.access }],
    ])(
      'refused with status %p and an unreadable body is known not to be accepted',
      async (status, answer) => {
        server.answer(status, '<html>no</html>');

        expect(await submit()).toEqual(answer);
      },
    );
  });
};
