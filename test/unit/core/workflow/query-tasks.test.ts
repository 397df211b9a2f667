import '../../builders/environment.ts';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Provider, ProviderAnswer, ProviderRouteOf } from '../../../../core/provider-calls/providers.ts';
import { table } from '../../../../core/table/table.ts';
import { queryTasks } from '../../../../core/workflow/query-tasks.ts';
import { atSeconds, StoppedClock } from '../../builders/clocks.ts';
import { aVideoRequest } from '../../builders/entities.ts';
import { aDone, leadingTo } from '../../builders/providers.ts';
import { accepted, answering, WaitingRequest } from '../../builders/waiting-request.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';
import { metricsCounted } from '../../fakes/metrics.ts';

const memory = new MemoryTable(table);
const request = new WaitingRequest(memory);
beforeEach(() => {
  memory.reset();
  request.given();
});

const FAILURE = { code: 'provider_error', message: 'broke' } as const;
const look = (provider: Provider, timeoutMs = 1000) =>
  queryTasks(aVideoRequest(), leadingTo(provider), new StoppedClock(atSeconds(20)), timeoutMs);

describe('querying the tasks of a request', () => {
  test.each<[ProviderAnswer]>([[aDone('a')], [{ kind: 'failed', failure: FAILURE }]])(
    'records the final answer %j',
    async (answer) => {
      const found = await look(answering(answer));

      expect(found).toMatchObject({ answered: true, attempts: [{ call: 0, outcome: answer }] });
      expect(request.attempt()).toMatchObject({ outcome: answer, finishedAt: atSeconds(20).toISOString() });
    },
  );

  test.each<[ProviderAnswer, boolean]>([
    [{ kind: 'waiting' }, true],
    [{ kind: 'accepted', taskId: 'other' }, true],
    [{ kind: 'busy', reason: 'down' }, false],
  ])('changes nothing for %j; it counts as answered: %p', async (answer, answered) => {
    const found = await look(answering(answer));

    expect(found).toMatchObject({ answered, attempts: [accepted()] });
    expect(request.attempt()).toMatchObject(accepted());
  });

  test.each([
    [0, false],
    [29.999, false],
    [30, true],
    [3_000, true],
  ])('believes that the provider does not know a task made %p s ago: %p', async (seconds, isFinal) => {
    const counted = metricsCounted();
    const lost: ProviderAnswer = { kind: 'lost', failure: FAILURE };
    const clock = new StoppedClock(atSeconds(seconds));

    const found = await queryTasks(aVideoRequest(), leadingTo(answering(lost)), clock, 1000);

    expect(found).toMatchObject({ answered: isFinal, attempts: [isFinal ? { outcome: lost } : accepted()] });
    expect(counted()).toEqual(isFinal ? [['ProviderCallLost', { provider: 'modelark' }]] : []);
  });

  test('notes the query before it is made', async () => {
    const provider = answering(async () => {
      expect(request.wait()).toMatchObject({ queriedAt: atSeconds(20).toISOString() });
      return { kind: 'waiting' };
    });
    await look(provider);

    expect(provider.query).toHaveBeenCalledTimes(1);
  });

  test('queries open tasks only, and notes no query when there are none', async () => {
    request.withAttempt({ outcome: aDone('a'), taskId: 'task-1' });
    const provider = answering({ kind: 'waiting' });

    expect(await look(provider)).toMatchObject({ answered: true, attempts: [{ outcome: aDone('a') }] });
    expect(provider.query).not.toHaveBeenCalled();
    expect(request.wait()).toBeUndefined();
  });

  test('ignores a call without a task id', async () => {
    request.withAttempt({ outcome: undefined, taskId: undefined });
    const provider = answering({ kind: 'waiting' });

    expect(await look(provider)).toMatchObject({ answered: true, attempts: [{ call: 0 }] });
    expect(provider.query).not.toHaveBeenCalled();
  });

  test('queries the latest attempt of each call, all at once', async () => {
    request.withAttempt({ call: 0, attempt: 0, outcome: { kind: 'busy', reason: 'full' } });
    request.withAttempt({ call: 0, attempt: 1, ...accepted('task-2') });
    request.withAttempt({ call: 1, attempt: 0, ...accepted('task-3') });
    const provider = answering({ kind: 'waiting' });
    provider.query.mockResolvedValueOnce(aDone('a')).mockResolvedValueOnce({ kind: 'busy', reason: 'down' });

    const found = await look(provider);

    expect(provider.query.mock.calls.map(([taskId]) => taskId)).toEqual(['task-2', 'task-3']);
    expect(found).toMatchObject({
      answered: false,
      attempts: [{ call: 0, attempt: 1, outcome: aDone('a') }, { call: 1 }],
    });
  });

  test('queries each task where it was created, whatever the model’s route is today', async () => {
    const origin = { provider: 'modelstudio', upstreamModel: 'old', baseUrl: 'https://old.example' } as const;
    request.withAttempt({ call: 0, ...accepted('task-1'), ...origin });
    request.withAttempt({ call: 1, ...accepted('task-2') });
    const [old, today] = [answering(aDone('a')), answering({ kind: 'waiting' })];
    const routes = jest.fn<ProviderRouteOf>(async (_, made) => ({
      provider: made ? old : today,
      upstreamModel: 'any',
    }));

    await queryTasks(aVideoRequest(), routes, new StoppedClock(atSeconds(20)), 1000);

    expect(routes.mock.calls.map(([, made]) => made)).toEqual([origin, undefined]);
    expect(old.query.mock.calls.map(([taskId]) => taskId)).toEqual(['task-1']);
    expect(today.query.mock.calls.map(([taskId]) => taskId)).toEqual(['task-2']);
  });

  test('queries nothing, and needs no route, when no task is open', async () => {
    request.withAttempt({ ...accepted(), outcome: aDone('a') });
    const none = async () => {
      throw new Error('No upstream is configured.');
    };

    expect(await queryTasks(aVideoRequest(), none, new StoppedClock(), 1000)).toMatchObject({
      answered: true,
    });
  });

  test('keeps the outcome that was recorded first', async () => {
    const provider = answering(async () => {
      request.withAttempt({ ...accepted(), outcome: aDone('first') });
      return { kind: 'failed', failure: FAILURE };
    });

    expect(await look(provider)).toMatchObject({ attempts: [{ outcome: aDone('first') }] });
    expect(request.attempt()).toMatchObject({ outcome: aDone('first') });
  });

  test('gives up after the given time', async () => {
    const provider = answering({ kind: 'waiting' });
    provider.query.mockImplementationOnce(async (_, signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return { kind: 'busy', reason: 'late' };
    });

    expect(await look(provider, 5)).toMatchObject({ answered: false });
  });
});
