import { describe, expect, test } from '@jest/globals';
import {
  A_CALL,
  adapterOf,
  answerWith,
  FAILURE,
  meaningOf,
  patient,
  server,
  withoutUpstream,
} from './server.ts';
import type { Wire } from './wire.ts';

/** A creation without a readable answer. */
export const describeUnansweredCreations = ({ Adapter, errors }: Wire): void => {
  const adapterAt = (baseUrl: string) => adapterOf(Adapter, baseUrl);
  const submit = () => meaningOf(adapterAt(server.url).submit(A_CALL, patient()));

  describe('a creation', () => {
    test('is one POST of the body as JSON, with the key', async () => {
      answerWith(errors.invalid);
      await submit();

      expect(server.requests).toMatchObject([
        {
          method: 'POST',
          path: A_CALL.path,
          body: { prompt: 'ünïcode' },
          headers: {
            authorization: expect.stringContaining('secret-key'),
            'content-type': 'application/json',
            'user-agent': 'generation-service/1.2.3 (+https://operator.example)',
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

    test.each<[string, typeof server.respond]>([
      ['whose connection breaks after it is sent', (_, response) => response.socket?.destroy()],
      [
        'whose answer breaks off',
        (_, response) => {
          response.writeHead(200, { 'content-length': '1000' });
          response.write('{"data":[', () => response.socket?.destroy());
        },
      ],
    ])('%s is lost, and is not sent again', async (_, respond) => {
      server.respond = respond;

      expect(await submit()).toEqual({ kind: 'lost', failure: FAILURE.lost });
      expect(server.requests).toHaveLength(1);
    });

    const TIMED_OUT = { kind: 'failed', failure: FAILURE.timeout, taken: 'unknown' };

    test.each([
      ['before an answer', () => undefined],
      ['within an answer', (response: { write: (text: string) => void }) => response.write('{')],
    ])('aborted %s has timed out', async (_, begin) => {
      const controller = new AbortController();
      server.respond = (_request, response) => {
        begin(response);
        setImmediate(() => controller.abort());
      };

      expect(await adapterAt(server.url).submit(A_CALL, controller.signal)).toEqual(TIMED_OUT);
    });

    test('aborted in advance is not sent', async () => {
      expect(await adapterAt(server.url).submit(A_CALL, AbortSignal.abort())).toEqual(TIMED_OUT);
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

    const throttled = (header: string | undefined, body: unknown) => {
      server.answer(429, body, header === undefined ? {} : { 'retry-after': header });
      return submit();
    };
    const busyFor = (retryAfterSeconds: unknown) => ({
      ...{ kind: 'busy', reason: expect.any(String), obstacle: 'throttled', retryAfterSeconds },
    });

    test.each<[header: string | undefined, seconds: number | undefined]>([
      ['7', 7],
      ['0', 0],
      ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
      ['Fri, 31 Dec 9999 23:59:59 GMT', 86_400],
      ['Monday, 01-Jan-90 00:00:00 GMT', 0],
      ['86401', 86_400],
      ['99999999999999999999', 86_400],
      ['1.5', undefined],
      ['-5', undefined],
      ['10, 20', undefined],
      ['soon', undefined],
      ['', undefined],
      [undefined, undefined],
    ])('refused with 429 and the Retry-After %j says when to try again', async (header, seconds) => {
      for (const body of [errors.throttled.body, '<html>no</html>'])
        expect(await throttled(header, body)).toEqual(busyFor(seconds));
    });

    test('refused with 429 and a Retry-After in an hour says so', async () => {
      const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();

      expect(await throttled(inAnHour, '')).toEqual(busyFor(expect.closeTo(3_600, -2)));
    });

    test.each([
      [429, { kind: 'busy', reason: expect.stringContaining('429'), obstacle: 'throttled' }],
      [400, { kind: 'failed', failure: FAILURE.input, taken: 'no', blamesInput: true }],
      [413, { kind: 'failed', failure: FAILURE.input, taken: 'no', blamesInput: true }],
      [401, { kind: 'failed', failure: FAILURE.access, taken: 'no', obstacle: 'access' }],
      [403, { kind: 'failed', failure: FAILURE.access, taken: 'no', obstacle: 'access' }],
      [404, { kind: 'failed', failure: FAILURE.access, taken: 'no', obstacle: 'access' }],
    ])(
      'refused with status %p and an unreadable body is known not to be accepted',
      async (status, answer) => {
        server.answer(status, '<html>no</html>');

        expect(withoutUpstream(await submit())).toEqual(answer);
      },
    );
  });
};
