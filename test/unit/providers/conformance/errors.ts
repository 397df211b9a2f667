import { describe, expect, test } from '@jest/globals';
import type { ProviderAnswer, UpstreamError } from '../../../../core/provider-calls/providers.ts';
import { A_CALL, adapterOf, answerWith, patient } from './server.ts';
import type { Wire, WireAnswer } from './wire.ts';

/** The provider's own error, which only operators see. */
export const describeToldErrors = ({ Adapter, errors, tasks, taskId = (id) => id }: Wire): void => {
  const submit = () => adapterOf(Adapter).submit(A_CALL, patient());
  const query = () => adapterOf(Adapter).query(taskId('task-1'), patient());

  describe.each<[string, WireAnswer, () => Promise<ProviderAnswer>]>([
    ['a creation', errors.invalid, submit],
    ['a task', tasks.failed.broken, query],
  ])('the error of %s is kept for operators', (_, answer, call) => {
    const upstream = async (): Promise<UpstreamError | undefined> => {
      const told = await call();
      return told.kind === 'failed' ? told.upstream : undefined;
    };
    /** The error kept of an answer with this message, and this code if any. */
    const keptOf = async (message: unknown, code?: string) => {
      answerWith(answer);
      const told = await upstream();
      const changed = JSON.stringify(answer)
        .replaceAll(JSON.stringify(told?.message), JSON.stringify(message))
        .replaceAll(JSON.stringify(told?.code), JSON.stringify(code ?? told?.code));
      answerWith(JSON.parse(changed));
      return { told, kept: await upstream() };
    };

    test('with its message', async () => {
      expect((await keptOf('why', 'Bad')).kept).toEqual({ code: 'Bad', message: 'why' });
    });

    test('cut to a line or two', async () => {
      // The cut splits a character.
      expect((await keptOf(`a${'😀'.repeat(5_000)}`, 'B'.repeat(5_000))).kept).toEqual({
        code: 'B'.repeat(100),
        message: `a${'😀'.repeat(249)}\uFFFD`,
      });
    });

    test('by its code alone when its message is no text', async () => {
      const { told, kept } = await keptOf({ deep: [1] });

      expect(kept).toEqual({ code: told?.code });
    });
  });
};
