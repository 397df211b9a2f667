import { BatchGetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { putQueueEntry } from '../../../../core/admission/queue-entries.ts';
import { routeLimitOf } from '../../../../core/admission/route-limit-rules.ts';
import { takePermit } from '../../../../core/admission/route-limits.ts';
import { logger } from '../../../../core/observability.ts';
import { surveyWork } from '../../../../core/reconciler/survey-work.ts';
import type { ImageRequest } from '../../../../core/requests/request-rules.ts';
import { type DueList, deletedRequestKey, dueListing, requestKey } from '../../../../core/table/keys.ts';
import { at, atSeconds, clockAt, NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anImageRequest, putRequest } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { aRequestId } from '../../builders/request-ids.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { metricsCounted } from '../../fakes/metrics.ts';

const logged = jest.spyOn(logger, 'error');
let counted = metricsCounted();
beforeEach(() => {
  logged.mockReset();
  counted = metricsCounted();
});

/** Lists a request created at one second for another; its price is 4 xTokens. */
const given = (createdAt: number, list: DueList, dueAt: number, more: Partial<ImageRequest> = {}): void => {
  const requestId = aRequestId(atSeconds(createdAt));
  putRequest(memory, anImageRequest({ requestId, createdAt: at(createdAt), status: 'processing', ...more }));
  memory.patch(requestKey(requestId), dueListing(list, requestId, at(dueAt)));
};
const survey = (seconds = 0, everySeconds = 60) => surveyWork(everySeconds, clockAt(seconds));
const surveyed = async (): Promise<Record<string, number>> => {
  await survey();
  return Object.fromEntries(counted().map(([name, , value = 1]) => [name, value]));
};

describe('a survey of the work', () => {
  test('counts the requests on the lists of work left, due or not', async () => {
    given(-5, 'START', 55);
    given(-400, 'CHECK', -10);
    given(-90_000, 'EXPIRE', 100, { status: 'succeeded' });
    const deleted = aRequestId(atSeconds(-9_000));
    memory.put(deletedRequestKey(ACCOUNT_ID, deleted), dueListing('CHECK', deleted, at(60)));

    expect(await surveyed()).toEqual({
      OpenRequests: 2,
      OldestOpenRequest: 400,
      OldestWaiting: 0,
      WorkOverdue: 10,
      XTokensHeld: 8,
    });
  });

  test('says by how long expired files are overdue', async () => {
    given(-90_000, 'EXPIRE', -700, { status: 'succeeded' });
    given(-100, 'CHECK', -10);

    expect((await surveyed()).WorkOverdue).toBe(700);
  });

  test('is all zeros when nothing is left', async () => {
    expect(await surveyed()).toEqual({
      OpenRequests: 0,
      OldestOpenRequest: 0,
      OldestWaiting: 0,
      WorkOverdue: 0,
      XTokensHeld: 0,
    });
    expect(memory.client.commandCalls(BatchGetCommand)).toHaveLength(0);
  });

  test('tells of each route with a limit what runs, what waits, and for how long', async () => {
    const limits = { provider: 'modelark', upstreamModel: 'seedream' };
    const MODEL_ROUTES = JSON.stringify({
      a: { ...limits, maxRunning: 3 },
      b: { ...limits, upstreamModel: 'free' },
    });
    await withEnvironment({ MODEL_ROUTES }, async () => {
      const limit = routeLimitOf('modelark/seedream', { maxRunning: 3 });
      await takePermit(limit, { requestId: 'img_1', accountId: 'a', weight: 2, starts: 2 }, NOW);
      const entry = { accountId: 'a', taskToken: 't', tokenOrder: '1', weight: 1, starts: 1 };
      for (const seconds of [-50, -70]) {
        const createdAt = at(seconds);
        await putQueueEntry(limit.name, { ...entry, requestId: `img_${seconds}`, createdAt }, NOW);
      }
      await survey();
    });

    const route = { route: 'modelark/seedream' };
    expect(counted()).toEqual(
      expect.arrayContaining([
        ['RequestsWaiting', route, 2],
        ['CallsRunning', route, 2],
        ['OldestWaitingOfRoute', route, 70],
        ['OldestWaiting', {}, 70],
      ]),
    );
    expect(counted().filter(([, dimensions]) => JSON.stringify(dimensions).includes('free'))).toEqual([]);
  });

  test('leaves out the money of requests that have ended and await what follows', async () => {
    given(-10, 'CHECK', 60, { status: 'failed' });
    given(-20, 'CHECK', 60);

    expect(await surveyed()).toMatchObject({ OpenRequests: 2, XTokensHeld: 4 });
  });

  test('estimates the money from 100 requests when more are open', async () => {
    for (let index = 0; index < 250; index++) given(-300 + index, 'CHECK', 60 + index);

    expect(await surveyed()).toMatchObject({ OpenRequests: 250, XTokensHeld: 1000 });
    const [read, ...more] = memory.client.commandCalls(BatchGetCommand);
    expect(more).toEqual([]);
    expect(read?.args[0].input.RequestItems?.table?.Keys).toHaveLength(100);
  });

  test('reads at most 1,000 items of each partition', async () => {
    await survey();

    const queries = memory.client.commandCalls(QueryCommand).map(({ args }) => args[0].input);
    expect(queries).toHaveLength(12);
    expect(queries.filter(({ Limit }) => Limit === 1000)).toHaveLength(8);
    expect(queries.filter(({ Limit }) => Limit === 1)).toHaveLength(4);
  });

  test('never rejects: an error is logged', async () => {
    memory.client.rejects(new Error('no table'));

    await expect(survey()).resolves.toBeUndefined();

    expect(logged.mock.calls).toEqual([
      ['the open work could not be counted', { error: new Error('no table') }],
    ]);
    expect(counted()).toEqual([]);
  });
});

describe('the runs of the reconciler', () => {
  const surveysIn = async (minutes: number, everySeconds: number, from: number): Promise<number> => {
    expect(NOW.getTime() % 300_000).toBe(0);
    for (let second = from; second < minutes * 60; second += Math.max(60, everySeconds)) {
      await survey(second, everySeconds);
    }
    return counted().filter(([name]) => name === 'OpenRequests').length;
  };

  test.each([
    [30, 60, 7, 6],
    [30, 60, 0, 6],
    [30, 2, 7, 6],
    [40, 120, 7, 8],
    [240, 3600, 7, 4],
  ])(
    'make one survey in 5 min, or one each: in %i min, every %i s from %i s on, %i',
    async (minutes, every, from, expected) => {
      expect(await surveysIn(minutes, every, from)).toBe(expected);
    },
  );
});
