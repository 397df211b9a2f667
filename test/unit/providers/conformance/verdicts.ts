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
