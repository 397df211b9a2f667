import { InvokeCommand } from '@aws-sdk/client-lambda';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { beginRun, nameReconciler } from '../../../../core/executions/reconciler-run.ts';
import { startReconcilerIfDead } from '../../../../core/executions/start-reconciler.ts';
import { logger } from '../../../../core/observability.ts';
import { atSeconds, NOW, StoppedClock } from '../../builders/clocks.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { MemoryFunctions } from '../../fakes/memory-functions.ts';

const functions = new MemoryFunctions();
const warned = jest.spyOn(logger, 'warn');
beforeEach(() => {
  functions.reset();
  functions.client.on(InvokeCommand).resolves({});
  warned.mockReset();
});

const startAt = (seconds: number) => startReconcilerIfDead(new StoppedClock(atSeconds(seconds)));
const started = () => functions.client.commandCalls(InvokeCommand).map(({ args }) => args[0].input);

describe('a request that begins to wait', () => {
  test('starts the reconciler by an event, with the input of a run of the schedule', async () => {
    await nameReconciler('reconcile');
    await startAt(0);

    expect(started()).toEqual([
      { FunctionName: 'reconcile', InvocationType: 'Event', Payload: '{"everySeconds":60}' },
    ]);
  });

  test('starts it once with all the others that do, and again when that run did not come for 10 s', async () => {
    await nameReconciler('reconcile');
    await Promise.all(Array.from({ length: 20 }, () => startAt(0)));
    await startAt(9.999);
    expect(started()).toHaveLength(1);

    await startAt(10);
    expect(started()).toHaveLength(2);
  });

  test('starts nothing while a run is alive', async () => {
    await beginRun('a', 'reconcile', NOW);
    await startAt(9.999);
    expect(started()).toEqual([]);

    await startAt(10);
    expect(started()).toHaveLength(1);
  });

  test('starts nothing before the first scheduled run', async () => {
    await startAt(0);

    expect(started()).toEqual([]);
  });

  test.each<[string, () => void]>([
    ['the table', () => memory.client.on(GetCommand).rejects(new Error('no answer'))],
    ['Lambda', () => functions.refuse(new Error('no answer'))],
  ])('goes on when %s fails, which is logged: the next scheduled run finds it', async (_, fail) => {
    await nameReconciler('reconcile');
    fail();

    await expect(startAt(0)).resolves.toBeUndefined();
    expect(warned.mock.calls).toEqual([
      ['the reconciler could not be started', { error: new Error('no answer') }],
    ]);
  });
});
