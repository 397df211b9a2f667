import { createHmac } from 'node:crypto';
import { clearCaches } from '@aws-lambda-powertools/parameters';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { table } from '../../../../core/table/table.ts';
import { receiveCallback } from '../../../../core/waiting/receive-callback.ts';
import { atSeconds, StoppedClock } from '../../builders/clocks.ts';
import { VIDEO_ID } from '../../builders/entities.ts';
import { leadingTo } from '../../builders/providers.ts';
import { WaitingRequest } from '../../builders/waiting-request.ts';
import { MemoryExecutions } from '../../fakes/memory-executions.ts';
import { MemorySecrets } from '../../fakes/memory-secrets.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';
import { adapterOf, answerWith, server } from './server.ts';
import type { Wire } from './wire.ts';

const SECRET = 'a secret of the deployment';

/**
 * Callbacks are hints: only the provider's answer to a query counts. An adapter does not read them, so this holds for
 * a provider that signs them, too.
 */
export const describeCallbacks = (wire: Wire): void => {
  const { Adapter, tasks } = wire;
  const provider = adapterOf(Adapter);
  const memory = new MemoryTable(table);
  const executions = new MemoryExecutions();
  const secrets = new MemorySecrets();
  const request = new WaitingRequest(memory);
  const token = (of: string = provider.id) =>
    createHmac('sha256', SECRET).update(`${of}\n${VIDEO_ID}`).digest('hex');
  const receive = (given: string, seconds: number) =>
    receiveCallback(
      { provider: provider.id, requestId: VIDEO_ID, token: given },
      leadingTo(provider),
      new StoppedClock(atSeconds(seconds)),
      async () => undefined,
    );

  describe('a callback', () => {
    beforeEach(() => {
      clearCaches();
      memory.reset();
      executions.reset();
      secrets.reset();
      secrets.set('arn:callback-secret', SECRET);
      request.given().waiting({ taskToken: 'token-1' });
      executions.wait('token-1');
    });

    test('that is forged is not found, and causes no query', async () => {
      answerWith(tasks.done('https://files.example.com/a.mp4'));

      await expect(receive(token('somebody'), 60)).rejects.toMatchObject({ code: 'not_found' });
      expect(server.requests).toEqual([]);
      expect(request.attempt()).toMatchObject({ outcome: { kind: 'accepted' } });
    });

    test('that claims what is not so changes nothing: the task is queried', async () => {
      answerWith(tasks.waiting[0] as never);
      await receive(token(), 60);

      expect(server.requests.map(({ method }) => method)).toEqual(['GET']);
      expect(request.attempt()).toMatchObject({ outcome: { kind: 'accepted' } });
      expect(executions.woken).toEqual([]);
    });

    test('that is repeated records the outcome once', async () => {
      answerWith(tasks.done('https://files.example.com/a.mp4'));
      await receive(token(), 60);
      answerWith(tasks.failed.broken);
      for (const seconds of [60, 61, 70, 400]) await receive(token(), seconds);

      expect(request.attempt()).toMatchObject({
        outcome: { kind: 'done', outputs: [{ url: 'https://files.example.com/a.mp4' }] },
        finishedAt: atSeconds(60).toISOString(),
      });
      expect(executions.woken).toHaveLength(1);
    });

    test('is asked for by the providers that call back, and by no other', () => {
      const url = 'https://api.example.com/callbacks/it/vid_1/token';
      const plan = JSON.stringify(provider.plan(wire.requests.task, 'upstream-model', url));

      expect([url, encodeURIComponent(url)].some((form) => plan.includes(form))).toBe(
        provider.callsBack(wire.requests.task.kind),
      );
      expect(wire.callback !== undefined).toBe(provider.callsBack('video'));
    });
  });
};
