import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { logger } from '../../../../core/observability.ts';
import { startExpiryIfDue } from '../../../../core/reconciler/start-expiry.ts';
import { dueListing, requestKey } from '../../../../core/table/keys.ts';
import { at, clockAt } from '../../builders/clocks.ts';
import { anImageRequest, putRequest, REQUEST_ID } from '../../builders/entities.ts';
import { executions } from '../../fakes/fresh-executions.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { metricsCounted } from '../../fakes/metrics.ts';

const logged = jest.spyOn(logger, 'error');
let counted = metricsCounted();
beforeEach(() => {
  logged.mockReset();
  counted = metricsCounted();
  const expiresAt = at(-5);
  putRequest(memory, anImageRequest({ status: 'succeeded', expiresAt }));
  memory.patch(requestKey(REQUEST_ID), dueListing('EXPIRE', REQUEST_ID, expiresAt));
});

const run = (seconds: number, everySeconds = 60) => startExpiryIfDue(everySeconds, clockAt(seconds));
const started = () => executions.started.map(({ machine, input }) => ({ machine, input }));

describe('a run of the reconciler', () => {
  test('starts an execution when a request has expired', async () => {
    await run(0);

    expect(started()).toEqual([{ machine: 'expiry', input: { cursor: { pages: 0 } } }]);
  });

  test('starts none while nothing is due: an idle run costs four small queries', async () => {
    await run(-1);

    expect(executions.client.calls()).toHaveLength(0);
    expect(memory.calls()).toEqual({ QueryCommand: 4 });
  });

  test('that is repeated starts none beside it', async () => {
    await Promise.all([run(0.1), run(0.2), run(12)]);

    expect(started()).toHaveLength(1);
  });

  test.each([
    ['59 s', [0.5, 59.5, 118.5]],
    ['61 s', [0.5, 61.5, 122.5]],
    ['31 s, as two at both ends of their minutes are', [59.5, 90.5, 121.5]],
  ])('is never kept from it by the run before: %s apart', async (_, times) => {
    for (const seconds of times) await run(seconds);

    expect(started()).toHaveLength(3);
  });

  test('is not kept from it by the run before where it runs every 2 s either', async () => {
    for (const seconds of [0.1, 2.1, 4.1]) await run(seconds, 2);

    expect(started()).toHaveLength(3);
  });

  test.each([
    ['asked', () => memory.client.on(QueryCommand).rejects(new Error('no answer'))],
    ['started', () => executions.refuseStarts(new Error('no answer'))],
  ])('logs and counts that it could not be %s, and leaves it to the next run', async (_, fail) => {
    fail();

    await expect(run(0)).resolves.toBe(false);

    expect(logged.mock.calls).toEqual([
      ['the expiry could not be started', { error: new Error('no answer') }],
    ]);
    expect(counted()).toEqual([['ReconcileFailed', {}]]);
  });
});
