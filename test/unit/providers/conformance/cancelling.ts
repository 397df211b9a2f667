import { describe, expect, test } from '@jest/globals';
import { aClosedUrl } from '../../servers/loopback-server.ts';
import { adapterOf, answerWith, patient, server } from './server.ts';
import type { Wire } from './wire.ts';

/** The results of cancelling a task that is no longer needed. */
export const describeCancelling = ({
  Adapter,
  cancel: wire,
  errors,
  taskId: idOf = (id) => id,
}: Wire): void => {
  const cancel = (id = 'task-1') => adapterOf(Adapter).cancel(idOf(id), patient());

  describe('cancelling a task', () => {
    test('is one call with the API key', async () => {
      answerWith(wire.done);

      expect(await cancel('a/b c')).toEqual({ kind: 'cancelled' });
      expect(server.requests).toMatchObject([
        {
          method: wire.method,
          path: wire.path('a%2Fb%20c'),
          headers: { authorization: expect.stringContaining('secret-key') },
        },
      ]);
    });

    test('may be refused, which is told by the provider’s code', async () => {
      answerWith(wire.refused);

      expect(await cancel()).toEqual({ kind: 'not-cancelled', reason: wire.code });
    });

    test.each([...errors.access, errors.throttled, errors.broken])('is not done by %j', async (answer) => {
      answerWith(answer);

      expect(await cancel()).toEqual({ kind: 'not-cancelled', reason: expect.any(String) });
    });

    test('never rejects', async () => {
      const closed = adapterOf(Adapter, await aClosedUrl());
      server.respond = (_, response) => response.socket?.destroy();

      expect(await closed.cancel(idOf('task-1'), patient())).toEqual({
        kind: 'not-cancelled',
        reason: 'unreached',
      });
      expect(await cancel()).toEqual({ kind: 'not-cancelled', reason: 'broken' });
      expect(await adapterOf(Adapter).cancel(idOf('task-1'), AbortSignal.abort())).toEqual({
        kind: 'not-cancelled',
        reason: 'timed-out',
      });
      server.answer(502, '<html></html>');
      expect(await cancel()).toEqual({ kind: 'not-cancelled', reason: 'HTTP 502' });
    });
  });
};
