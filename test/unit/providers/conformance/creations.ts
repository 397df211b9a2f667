import { describe, expect, jest, test } from '@jest/globals';
import { logger } from '../../../../core/observability.ts';
import { takenOf } from '../../../../core/provider-calls/attempt-rules.ts';
import type { Obstacle, ProviderAnswer, Taken } from '../../../../core/provider-calls/providers.ts';
import { metricsCounted } from '../../fakes/metrics.ts';
import { aClosedUrl } from '../../servers/loopback-server.ts';
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
import type { Wire, WireAnswer } from './wire.ts';

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

/** Whether the provider took the call of an attempt that ended by this answer. */
const takenBy = (answer: ProviderAnswer): Taken => {
  if (answer.kind === 'waiting' || answer.kind === 'refused') throw new Error('This answers no creation.');
  return takenOf({ outcome: answer });
};

/** The obstacle of a call that another provider may take. */
const obstacleOf = (answer: ProviderAnswer): Obstacle | undefined =>
  'obstacle' in answer ? answer.obstacle : undefined;

/** What a failure has that says nothing of the provider. */
const BLAMED = { blamesInput: true };

/** The meaning of each answer to a creation, and whether the provider certainly did not take the call. */
export const describeVerdicts = (wire: Wire): void => {
  const { Adapter, errors, created, images, partial, taskId = (id) => id } = wire;
  const submit = () => meaningOf(adapterOf(Adapter).submit(A_CALL, patient()));
  const { id: provider } = adapterOf(Adapter);
  const url = (name: string) => `https://files.example.com/${name}`;

  describe('the verdict on a creation', () => {
    test.each<[string, WireAnswer, Partial<ProviderAnswer>, Taken]>([
      ['a task', created('task-1'), { kind: 'accepted', taskId: taskId('task-1') }, 'yes'],
      ['a content decision', errors.content, { kind: 'failed', failure: FAILURE.content }, 'no'],
      ['an invalid input', errors.invalid, { kind: 'failed', failure: FAILURE.input, ...BLAMED }, 'no'],
      ['too much to do', errors.throttled, { kind: 'busy' }, 'no'],
      ['a broken provider', errors.broken, { kind: 'failed', failure: FAILURE.error }, 'unknown'],
      ['an error that is no error', { ...errors.content, status: 200 }, { failure: FAILURE.content }, 'yes'],
      ['no JSON', { status: 200, body: 'ok' }, { kind: 'lost' }, 'unknown'],
      ['a gateway', { status: 502, body: '<html></html>' }, { kind: 'lost' }, 'unknown'],
      [
        'a gateway that waited in vain',
        { status: 408, body: '<html></html>' },
        { kind: 'failed' },
        'unknown',
      ],
      ['a gateway that was left', { status: 499, body: '<html></html>' }, { kind: 'failed' }, 'unknown'],
      ...(wire.outcomes ?? []),
    ])('for %s', async (_, answer, expected, taken) => {
      const counted = metricsCounted();
      answerWith(answer);
      const told = await submit();

      expect(told).toMatchObject(expected);
      expect(takenBy(told)).toBe(taken);
      expect('blamesInput' in told).toBe('blamesInput' in expected);
      expect(counted().filter(([name]) => name === 'ProviderInputRefused')).toHaveLength(
        'blamesInput' in expected ? 1 : 0,
      );
      expect(obstacleOf(told)).toBe(told.kind === 'busy' ? 'throttled' : undefined);
      expect(server.requests).toHaveLength(1);
      expect(counted().filter(([name]) => name === 'ProviderAccessRefused')).toEqual([]);
    });

    test.each(errors.access)('for a refused key or account counts for an alarm: %j', async (answer) => {
      const counted = metricsCounted();
      answerWith(answer);
      const told = await submit();

      expect(told).toMatchObject({ kind: 'failed', failure: FAILURE.access, obstacle: 'access' });
      expect(takenBy(told)).toBe('no');
      expect(counted()).toEqual([['ProviderAccessRefused', { provider }]]);
    });

    test('is surely not taken when the provider was not reached, and open when the call was sent', async () => {
      const unreached = await adapterOf(Adapter, await aClosedUrl()).submit(A_CALL, patient());
      server.respond = (_, response) => response.socket?.destroy();
      const cut = await submit();
      const late = await adapterOf(Adapter).submit(A_CALL, AbortSignal.abort());

      expect(unreached).toMatchObject({ kind: 'busy' });
      expect([unreached, cut, late].map(takenBy)).toEqual(['no', 'unknown', 'unknown']);
      expect([unreached, cut, late].map(obstacleOf)).toEqual(['unreached', undefined, undefined]);
    });

    test('never shows the provider’s message to a caller', async () => {
      for (const answer of [errors.invalid, errors.broken, errors.content]) {
        answerWith(answer);
        expect(JSON.stringify(withoutUpstream(await submit()))).not.toMatch(/In detail/);
      }
    });

    test('that cannot be read is logged with its shape once, never its content', async () => {
      const logged = jest.spyOn(logger, 'error').mockImplementation(() => undefined);
      server.answer(200, { [`${provider}_odd`]: 'a fox' });
      for (let count = 0; count < 3; count++) await submit();

      const told = logged.mock.calls.filter(([message]) => message === 'provider answer unreadable');
      expect(told).toEqual([
        [
          'provider answer unreadable',
          { provider, operation: 'creation', status: 200, shape: `{${provider}_odd:string}` },
        ],
      ]);
      logged.mockRestore();
    });

    test.each(wire.same.creation)('reads null like nothing: %j', async (absent, empty) => {
      answerWith(absent);
      const expected = await submit();
      answerWith(empty);

      expect(withoutUpstream(await submit())).toEqual(withoutUpstream(expected));
      expect(expected.kind).not.toBe('lost');
    });

    const usageOf = (count: number) => (wire.countsImages ? { usage: { images: count } } : {});
    if (images)
      test('for outputs that came at once tells all', async () => {
        answerWith(images(url('a'), url('b')));
        const outputs = [{ url: url('a') }, { url: url('b') }];
        expect(await submit()).toEqual({ kind: 'done', outputs, ...usageOf(2) });

        answerWith(images());
        const none = await submit();
        expect(none).toMatchObject({ kind: 'failed', failure: FAILURE.error });
        expect(takenBy(none)).toBe('yes');
      });

    if (partial)
      test('for a part of the outputs keeps it', async () => {
        answerWith(partial(url('b')));

        expect(await submit()).toEqual({
          kind: 'done',
          outputs: [{ failure: FAILURE.output }, { url: url('b') }, { failure: FAILURE.error }],
          ...usageOf(1),
        });
      });

    test('is planned the same each time, in the mode that it is answered in', () => {
      const { task, synchronous } = wire.requests;
      for (const [mode, request] of Object.entries({
        asynchronous: task,
        ...(synchronous && { synchronous }),
      })) {
        const [first, second] = [1, 2].map(() =>
          adapterOf(Adapter).plan(request, 'upstream-model', 'https://c'),
        );

        expect(first).toEqual(second);
        expect(first).toMatchObject({ mode, calls: [{ path: expect.stringMatching(/^\//) }] });
      }
    });

    test('asks for a callback where the provider calls back, and nowhere else', () => {
      const adapter = adapterOf(Adapter);
      const callback = 'https://api.example.com/callbacks/it/vid_1/token';
      for (const request of Object.values(wire.requests)) {
        const plan = JSON.stringify(adapter.plan(request, 'upstream-model', callback));
        const isAsked = [callback, encodeURIComponent(callback)].some((form) => plan.includes(form));

        expect(isAsked).toBe(adapter.callsBack(request.kind));
      }
      expect((['image', 'video'] as const).filter((kind) => adapter.callsBack(kind))).toEqual(
        wire.callsBackFor,
      );
    });
  });
};
