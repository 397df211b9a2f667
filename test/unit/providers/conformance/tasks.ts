import { describe, expect, jest, test } from '@jest/globals';
import { logger } from '../../../../core/observability.ts';
import type { ProviderAnswer } from '../../../../core/provider-calls/providers.ts';
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

const INPUT_FAILURE = { kind: 'failed', failure: FAILURE.input } as const;
const VIDEO_URL = 'https://files.example.com/video.mp4';

/** The meaning of a task's states, and of answers that do not give one. */
export const describeTasks = (wire: Wire): void => {
  const { Adapter, tasks, errors, taskId: idOf = (id) => id } = wire;
  const query = (id = 'task-1') => meaningOf(adapterOf(Adapter).query(idOf(id), patient()));
  const { id: provider } = adapterOf(Adapter);

  describe("the provider's own id of a call", () => {
    const told = { status: 418, headers: { 'X-Request-Id': 'call-7' }, body: {} };

    test('comes with the answer to a creation and to a query, for the log', async () => {
      answerWith(told);
      const adapter = adapterOf(Adapter);

      expect(await adapter.submit(A_CALL, patient())).toMatchObject({ providerRequestId: 'call-7' });
      expect(await adapter.query(idOf('task-1'), patient())).toMatchObject({ providerRequestId: 'call-7' });
    });

    test.each(['a b', '', 'x'.repeat(101), '{"prompt":1}'])('is not taken for one: %j', async (id) => {
      answerWith({ ...told, headers: { 'X-Request-Id': id } });

      expect(await adapterOf(Adapter).query(idOf('task-1'), patient())).not.toHaveProperty(
        'providerRequestId',
      );
    });
  });

  describe('a task', () => {
    test('is queried by its id, with the API key', async () => {
      answerWith(tasks.done(VIDEO_URL));
      await query('a/b c');

      const paths = [wire.taskPath('a%2Fb%20c')].flat();
      expect(server.requests).toMatchObject(
        paths.map((path) => ({
          ...{ method: 'GET', path, body: undefined },
          headers: { authorization: expect.stringContaining('secret-key') },
        })),
      );
    });

    test.each<[string, WireAnswer, ProviderAnswer]>([
      ...tasks.waiting.map((answer): [string, WireAnswer, ProviderAnswer] => [
        'unfinished',
        answer,
        { kind: 'waiting' },
      ]),
      ['done', tasks.done(VIDEO_URL), { kind: 'done', outputs: [{ url: VIDEO_URL }] }],
      ['done without an output', tasks.empty, { kind: 'failed', failure: FAILURE.error }],
      ['refused for its content', tasks.failed.content, { kind: 'failed', failure: wire.refusedContent }],
      ['failed for its input', tasks.failed.invalid, { ...INPUT_FAILURE, blamesInput: true }],
      ['broken', tasks.failed.broken, { kind: 'failed', failure: FAILURE.error }],
      ['timed out upstream', tasks.timedOut, { kind: 'failed', failure: FAILURE.timeout }],
      ['cancelled', tasks.cancelled, { kind: 'failed', failure: FAILURE.error }],
      ['not known', tasks.unknown, { kind: 'lost', failure: FAILURE.lost }],
    ])('that is %s is told so', async (_, answer, expected) => {
      answerWith(answer);

      expect(withoutUpstream(await query())).toEqual(withoutUpstream(expected));
    });

    test('in an unknown state is lost if that goes on, and counted for the operator', async () => {
      const counted = metricsCounted();
      answerWith(tasks.unheardOf);

      expect(await query()).toEqual({ kind: 'refused', failure: FAILURE.lost });
      expect(counted()).toEqual([['UnknownProviderState', { provider }]]);
    });

    test('that the provider no longer knows is lost, which is counted only when it is final', async () => {
      const counted = metricsCounted();
      answerWith(tasks.unknown);

      expect(await query()).toEqual({ kind: 'lost', failure: FAILURE.lost });
      expect(counted()).toEqual([]);
    });

    test.each(errors.access)(
      'whose query is refused for our key or account is not taken for slow, and counted: %j',
      async (answer) => {
        const counted = metricsCounted();
        answerWith(answer);

        expect(await query()).toEqual({ kind: 'refused' });
        expect(counted()).toEqual([['ProviderAccessRefused', { provider }]]);
      },
    );

    // A gateway does not know what its provider knows: such a 404 loses no task.
    test.each([401, 403, 404])('whose query is refused with %p and no code is refused', async (status) => {
      server.answer(status, '<html>no</html>');

      expect(await query()).toEqual({ kind: 'refused' });
    });

    test.each([429, 503])(
      'whose query is answered with %p is queried again after Retry-After',
      async (status) => {
        for (const body of [errors.throttled.body, '<html>later</html>']) {
          server.answer(status, body, { 'retry-after': '40' });

          expect(await query()).toMatchObject({ kind: 'busy', retryAfterSeconds: 40 });
        }
      },
    );

    test.each([
      [408, ''],
      [425, '<html></html>'],
      [429, JSON.stringify(errors.throttled.body)],
      [500, JSON.stringify(errors.broken.body)],
      [502, '<html></html>'],
      [503, JSON.stringify(tasks.failed.broken.body)],
    ])('whose query is answered with %p %s is queried again', async (status, body) => {
      server.answer(status, body);

      expect(await query()).toMatchObject({ kind: 'busy' });
    });

    test.each([
      [200, 'garbage'],
      [200, '{}'],
      [200, '[]'],
      [200, 'null'],
      [302, ''],
      [400, '<html></html>'],
      [409, '{}'],
      [400, JSON.stringify(errors.invalid.body)],
    ])('whose query is answered with %p %s is lost if that goes on', async (status, body) => {
      server.answer(status, body);

      expect(await query()).toEqual({ kind: 'refused', failure: FAILURE.lost });
    });

    test('whose query is not answered is queried again', async () => {
      server.respond = (_, response) => response.socket?.destroy();
      const closed = adapterOf(Adapter, await aClosedUrl());

      expect(await query()).toMatchObject({ kind: 'busy' });
      expect(await closed.query(idOf('task-1'), patient())).toMatchObject({ kind: 'busy' });
      expect(await adapterOf(Adapter).query(idOf('task-1'), AbortSignal.abort())).toMatchObject({
        kind: 'busy',
      });
    });

    test('whose state cannot be read is counted, and its answer logged with its shape once, never its content', async () => {
      const counted = metricsCounted();
      const logged = jest.spyOn(logger, 'error').mockImplementation(() => undefined);
      const odd = { secret: 'a fox', 'a key of a user': [1, null, { [`${provider}_text`]: true }] };
      server.answer(200, odd);

      for (let count = 0; count < 3; count++) expect(await query()).toMatchObject({ kind: 'refused' });

      expect(counted()).toEqual(Array(3).fill(['UnknownProviderState', { provider }]));
      expect(logged.mock.calls).toEqual([
        [
          'provider answer unreadable',
          {
            ...{ provider, operation: 'query', status: 200 },
            shape: `{secret:string,?:[number|null|{${provider}_text:boolean}]}`,
          },
        ],
      ]);
      logged.mockRestore();
    });

    test('never shows the provider’s message to a caller', async () => {
      answerWith(tasks.failed.broken);

      expect(JSON.stringify(withoutUpstream(await query()))).not.toMatch(/In detail/);
    });

    test.each(wire.same.query)('reads null like nothing: %j', async (absent, empty) => {
      answerWith(absent);
      const expected = await query();
      answerWith(empty);

      expect(withoutUpstream(await query())).toEqual(withoutUpstream(expected));
      expect(['busy', 'refused']).not.toContain(expected.kind);
    });
  });
};
