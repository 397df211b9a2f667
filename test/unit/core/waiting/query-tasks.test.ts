import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { TASK_REFUSED } from '../../../../core/executions/step-rules.ts';
import { logger } from '../../../../core/observability.ts';
import { latestAttempts } from '../../../../core/provider-calls/attempt-rules.ts';
import { listAttempts } from '../../../../core/provider-calls/provider-attempts.ts';
import type { Provider, ProviderAnswer, ProviderRouteOf } from '../../../../core/provider-calls/providers.ts';
import { queryTasks } from '../../../../core/waiting/query-tasks.ts';
import { failedTask } from '../../../../providers/failures.ts';
import { at, clockAt } from '../../builders/clocks.ts';
import { aVideoRequest, VIDEO_ID } from '../../builders/entities.ts';
import { aDone, leadingTo } from '../../builders/providers.ts';
import { accepted, answering, WaitingRequest } from '../../builders/waiting-request.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { metricsCounted } from '../../fakes/metrics.ts';

const request = new WaitingRequest(memory);
beforeEach(() => {
  request.given();
});

const FAILURE = { code: 'provider_error', message: 'broke' } as const;
/** Queries the tasks of the request at this second. */
const query = async (
  providerRouteOf: ProviderRouteOf,
  seconds = 20,
  { timeoutMs = 1000, ...options }: { timeoutMs?: number; isLast?: boolean } = {},
) =>
  queryTasks(
    latestAttempts(await listAttempts(VIDEO_ID)),
    { request: aVideoRequest(), providerRouteOf, clock: clockAt(seconds), timeoutMs },
    options,
  );
const check = (provider: Provider, timeoutMs = 1000) => query(leadingTo(provider), 20, { timeoutMs });

describe('querying the tasks of a request', () => {
  test.each<[ProviderAnswer]>([[aDone('a')], [{ kind: 'failed', failure: FAILURE }]])(
    'records the final answer %j',
    async (answer) => {
      const found = await check(answering(answer));

      expect(found).toMatchObject({ answered: true, attempts: [{ call: 0, outcome: answer }] });
      expect(request.attempt()).toMatchObject({ outcome: answer, finishedAt: at(20) });
    },
  );

  test("logs a task's end once: the seconds from its creation, the outcome and the provider's own id of the query", async () => {
    const info = jest.spyOn(logger, 'info').mockClear();
    const answer = { ...aDone('a'), providerRequestId: 'call-7' };

    await Promise.all([check(answering(answer)), check(answering({ kind: 'waiting' }))]);
    await check(answering(answer));

    const { requestId, provider, upstreamModel, call, taskId } = request.attempt() ?? {};
    const task = { requestId, provider, upstreamModel, call, taskId };
    expect(info.mock.calls).toEqual([
      ['provider task ended', { ...task, outcome: 'done', seconds: 20, providerRequestId: 'call-7' }],
    ]);
    expect(Object.values(task)).not.toContain(undefined);
    expect(request.attempt()?.outcome).toEqual(aDone('a'));
  });

  test("names the request in the adapter's own log line of a refusal", async () => {
    const warn = jest.spyOn(logger, 'warn').mockClear();
    const refusing = answering(async () =>
      failedTask('modelark', { code: 'Full' }, { rows: [], places: [] }, { kind: 'timed-out' }),
    );

    await check(refusing);

    const { requestId } = request.attempt() ?? {};
    expect(warn.mock.calls).toEqual([
      ['provider refused', { requestId, provider: 'modelark', errorClass: 'error', upstreamCode: 'Full' }],
    ]);
  });

  test.each<[ProviderAnswer, boolean]>([
    [{ kind: 'waiting' }, true],
    [{ kind: 'accepted', taskId: 'other' }, true],
    [{ kind: 'busy', reason: 'down' }, false],
  ])('changes nothing for %j; it counts as answered: %p', async (answer, answered) => {
    const found = await check(answering(answer));

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

    const found = await query(leadingTo(answering(lost)), seconds);

    expect(found).toMatchObject({ answered: isFinal, attempts: [isFinal ? { outcome: lost } : accepted()] });
    expect(counted()).toEqual(isFinal ? [['ProviderCallLost', { provider: 'modelark' }]] : []);
  });

  test('does not believe it of a task that its provider took long to accept, for 30 s from then', async () => {
    request.withAttempt({ ...accepted(), aliveAt: at(55) });
    const lost = leadingTo(answering({ kind: 'lost', failure: FAILURE }));

    expect(await query(lost, 84.999)).toMatchObject({ answered: false, attempts: [accepted()] });
    expect(await query(lost, 85)).toMatchObject({
      answered: true,
      attempts: [{ outcome: { kind: 'lost' } }],
    });
  });

  test('records the query before it is made', async () => {
    const provider = answering(async () => {
      expect(request.wait()).toMatchObject({ queriedAt: at(20) });
      return { kind: 'waiting' };
    });
    await check(provider);

    expect(provider.query).toHaveBeenCalledTimes(1);
  });

  test('needs no route, and records no query, when no task is open', async () => {
    request.withAttempt({ outcome: aDone('a'), taskId: 'task-1' });
    const none = async () => {
      throw new Error('No upstream is configured.');
    };

    expect(await query(none)).toMatchObject({ answered: true, attempts: [{ outcome: aDone('a') }] });
    expect(request.wait()).toBeUndefined();
  });

  test('ignores a call without a task id', async () => {
    request.withAttempt({ outcome: undefined, taskId: undefined });
    const provider = answering({ kind: 'waiting' });

    expect(await check(provider)).toMatchObject({ answered: true, attempts: [{ call: 0 }] });
    expect(provider.query).not.toHaveBeenCalled();
  });

  test('queries the latest attempt of each call, all at once', async () => {
    request.withAttempt({ call: 0, attempt: 0, outcome: { kind: 'busy', reason: 'full' } });
    request.withAttempt({ call: 0, attempt: 1, ...accepted('task-2') });
    request.withAttempt({ call: 1, attempt: 0, ...accepted('task-3') });
    const provider = answering({ kind: 'waiting' });
    provider.query.mockResolvedValueOnce(aDone('a')).mockResolvedValueOnce({ kind: 'busy', reason: 'down' });

    const found = await check(provider);

    expect(provider.query.mock.calls.map(([taskId]) => taskId)).toEqual(['task-2', 'task-3']);
    expect(found).toMatchObject({
      answered: false,
      attempts: [{ call: 0, attempt: 1, outcome: aDone('a') }, { call: 1 }],
    });
  });

  test('queries each task where it was created, whatever the model’s route is today', async () => {
    const origin = { provider: 'modelstudio', upstreamModel: 'old', baseUrl: 'https://old.example' } as const;
    const newOrigin = { ...origin, upstreamModel: 'new', baseUrl: 'https://new.example' } as const;
    request.withAttempt({ call: 0, ...accepted('task-1'), ...origin });
    request.withAttempt({ call: 1, ...accepted('task-2'), ...newOrigin });
    const [old, today] = [answering(aDone('a')), answering({ kind: 'waiting' })];
    const routes = jest.fn<ProviderRouteOf>(async (_, made) => ({
      provider: made?.upstreamModel === 'old' ? old : today,
      upstreamModel: 'any',
    }));

    await query(routes);

    expect(routes.mock.calls.map(([, made]) => made)).toEqual([origin, newOrigin]);
    expect(old.query.mock.calls.map(([taskId]) => taskId)).toEqual(['task-1']);
    expect(today.query.mock.calls.map(([taskId]) => taskId)).toEqual(['task-2']);
  });

  test('keeps the outcome that was recorded first', async () => {
    const provider = answering(async () => {
      request.withAttempt({ ...accepted(), outcome: aDone('first') });
      return { kind: 'failed', failure: FAILURE };
    });

    expect(await check(provider)).toMatchObject({ attempts: [{ outcome: aDone('first') }] });
    expect(request.attempt()).toMatchObject({ outcome: aDone('first') });
  });

  describe('that the provider refuses to tell', () => {
    const REFUSED: ProviderAnswer = { kind: 'refused' };
    const readHeld = (seconds: number, answer: ProviderAnswer) =>
      query(leadingTo(answering(answer)), seconds);

    test('changes nothing at the first check, which may be a rotation of the key', async () => {
      expect(await readHeld(20, REFUSED)).toMatchObject({
        answered: false,
        attempts: [{ refusedAt: at(20) }],
      });
      expect(await readHeld(319, REFUSED)).toMatchObject({
        answered: false,
        attempts: [{ refusedAt: at(20) }],
      });
      expect(request.attempt()).toMatchObject({ ...accepted(), refusedAt: at(20) });
    });

    test('fails the task at a check that every function makes with the key of today', async () => {
      await readHeld(20, REFUSED);
      const failed = { kind: 'failed', failure: TASK_REFUSED };

      expect(await readHeld(320, REFUSED)).toMatchObject({ answered: true, attempts: [{ outcome: failed }] });
      expect(request.attempt()).toMatchObject({ outcome: failed, finishedAt: at(320) });
      expect(TASK_REFUSED.code).toBe('provider_error');
    });

    test('fails the task with the failure of an answer that cannot be read', async () => {
      await readHeld(20, { kind: 'refused', failure: FAILURE });

      expect(await readHeld(320, { kind: 'refused', failure: FAILURE })).toMatchObject({
        attempts: [{ outcome: { kind: 'failed', failure: FAILURE } }],
      });
    });

    test('is forgotten when the provider tells it again', async () => {
      await readHeld(20, REFUSED);
      expect((await readHeld(40, { kind: 'waiting' })).attempts[0]).not.toHaveProperty('refusedAt');
      expect(request.attempt()).not.toHaveProperty('refusedAt');

      await readHeld(310, REFUSED);
      expect(await readHeld(330, REFUSED)).toMatchObject({
        attempts: [{ ...accepted(), refusedAt: at(310) }],
      });
    });

    test('is still so after a check without an answer', async () => {
      await readHeld(20, REFUSED);
      await readHeld(200, { kind: 'busy', reason: 'down' });

      expect(await readHeld(320, REFUSED)).toMatchObject({ attempts: [{ outcome: { kind: 'failed' } }] });
    });

    test('does not take back an outcome that was recorded meanwhile', async () => {
      const provider = answering(async () => {
        request.withAttempt({ ...accepted(), outcome: aDone('first') });
        return REFUSED;
      });
      await check(provider);

      expect(request.attempt()).toMatchObject({ outcome: aDone('first') });
      expect(request.attempt()).not.toHaveProperty('refusedAt');
    });
  });

  describe('whose provider asks to be queried later', () => {
    const readHeld = (seconds: number, provider: Provider, isLast = false) =>
      query(leadingTo(provider), seconds, { isLast });
    const throttled: ProviderAnswer = { kind: 'busy', reason: '429', retryAfterSeconds: 55 };

    test('makes no query until then, whoever wants one', async () => {
      const notBefore = at(75);
      expect(await readHeld(20, answering(throttled))).toMatchObject({ answered: false, notBefore });
      const provider = answering(aDone('a'));

      expect(await readHeld(74.999, provider)).toMatchObject({ answered: false, attempts: [accepted()] });
      expect(provider.query).not.toHaveBeenCalled();
      expect(request.wait()).toMatchObject({ queriedAt: at(20), notBefore });

      expect(await readHeld(75, provider)).toMatchObject({
        answered: true,
        attempts: [{ outcome: aDone('a') }],
      });
    });

    test('is queried a last time nevertheless: what it produced is delivered', async () => {
      await readHeld(20, answering(throttled));

      const last = await readHeld(59, answering(aDone('a')), true);
      expect(last).toMatchObject({ attempts: [{ outcome: aDone('a') }] });
    });

    test('waits for the longest of several', async () => {
      request.withAttempt({ call: 1, attempt: 0, ...accepted('task-2') });
      const provider = answering(throttled);
      provider.query.mockResolvedValueOnce({ ...throttled, retryAfterSeconds: 30 } as ProviderAnswer);

      expect(await readHeld(0, provider)).toMatchObject({ notBefore: at(55) });
    });
  });

  test('gives up after the given time', async () => {
    const provider = answering({ kind: 'waiting' });
    provider.query.mockImplementationOnce(async (_, signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return { kind: 'busy', reason: 'late' };
    });

    expect(await check(provider, 5)).toMatchObject({ answered: false });
  });
});
