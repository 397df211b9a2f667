import '../../builders/environment.ts';
import { DeleteObjectsCommand } from '@aws-sdk/client-s3';
import { DescribeExecutionCommand, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { logger } from '../../../../core/observability.ts';
import type { ProviderAnswer, ProviderRouteOf } from '../../../../core/provider-calls/providers.ts';
import type { VideoRequest } from '../../../../core/requests/request-rules.ts';
import { markProcessing } from '../../../../core/requests/requests.ts';
import {
  accountKey,
  deletedRequestKey,
  dueListing,
  endUserKey,
  outputObjectKey,
  providerAttemptKey,
  providerWaitKey,
  requestKey,
} from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import { reconcileDue } from '../../../../core/workflow/reconcile-due.ts';
import { atSeconds, StoppedClock } from '../../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anAccount,
  anAttempt,
  anEndUser,
  anImageRequest,
  aStoredVideo,
  aVideoRequest,
  EMAIL,
  putRequest,
  VIDEO_ID,
} from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { aDone, leadingTo } from '../../builders/providers.ts';
import { aRequestId } from '../../builders/request-ids.ts';
import { accepted, answering, WaitingRequest } from '../../builders/waiting-request.ts';
import { MemoryBucket } from '../../fakes/memory-bucket.ts';
import { MemoryExecutions } from '../../fakes/memory-executions.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';
import { metricsCounted } from '../../fakes/metrics.ts';

const memory = new MemoryTable(table);
const executions = new MemoryExecutions();
const bucket = new MemoryBucket();
const request = new WaitingRequest(memory);
const logged = jest.spyOn(logger, 'error');
jest.spyOn(Math, 'random').mockReturnValue(0);
let counted = metricsCounted();
beforeEach(() => {
  memory.reset();
  executions.reset();
  bucket.reset();
  logged.mockReset();
  counted = metricsCounted();
  memory.put(accountKey(ACCOUNT_ID), anAccount());
  memory.put(endUserKey(ACCOUNT_ID, EMAIL), anEndUser());
});

const at = (seconds: number): string => atSeconds(seconds).toISOString();
const clockAt = (seconds: number) => new StoppedClock(atSeconds(seconds));
const ended: Partial<VideoRequest> = {
  status: 'succeeded',
  outputs: [aStoredVideo()],
  expiresAt: at(1000),
  costThousandths: 50_000,
  finishedAt: at(0),
};
/** Lists a request for a look at this second. */
const dueAt = (seconds: number, requestId = VIDEO_ID) =>
  memory.patch(requestKey(requestId), dueListing('LOOK', requestId, at(seconds)));
const placeOf = (requestId: string) => {
  const { GSI1PK, GSI1SK } = memory.get(requestKey(requestId)) ?? {};
  return { GSI1PK, GSI1SK };
};
const listed = (list: 'START' | 'LOOK', seconds: number, requestId = VIDEO_ID) =>
  dueListing(list, requestId, at(seconds));
const always = () => true;
const reconcileAt = (seconds: number, answer: ProviderAnswer = { kind: 'waiting' }, keepGoing = always) => {
  const provider = answering(answer);
  return reconcileDue(leadingTo(provider), keepGoing, clockAt(seconds)).then(() => provider);
};
/** Puts a queued request created at this second; returns its id. */
const given = (seconds: number): string => {
  const createdAt = atSeconds(seconds);
  const requestId = aRequestId(createdAt);
  putRequest(memory, anImageRequest({ requestId, createdAt: createdAt.toISOString() }));
  return requestId;
};
/** Puts a video whose execution waits for a task of this name, due at this second; returns its id. */
const givenWaiting = (seconds: number): string => {
  const createdAt = atSeconds(-1000);
  const requestId = aRequestId(createdAt, 'vid');
  putRequest(memory, aVideoRequest({ requestId, createdAt: at(-1000), status: 'processing' }));
  memory.put(providerAttemptKey(requestId, 0, 0), anAttempt({ requestId, ...accepted(requestId) }));
  memory.put(providerWaitKey(requestId), { requestId, taskToken: requestId, waitingSince: at(-999) });
  executions.put('generation', requestId, 'RUNNING');
  executions.wait(requestId);
  dueAt(seconds, requestId);
  return requestId;
};
const commands = () => executions.client.calls().map(({ args }) => args[0].constructor.name);

describe('a request that may have no execution', () => {
  test('is started once it is 60 s old', async () => {
    const old = [given(-100), given(-60)];
    given(-59.999);
    given(0);

    await reconcileAt(0);

    expect(executions.names('generation')).toEqual(old);
    expect(commands()).toEqual(expect.arrayContaining(['DescribeExecutionCommand', 'StartExecutionCommand']));
  });

  test('is looked at again by the next run after it was started', async () => {
    const requestId = given(-60);

    await reconcileAt(0);

    expect(placeOf(requestId)).toEqual(listed('START', 45, requestId));
  });

  test('is left alone when it has one, and looked at like all others', async () => {
    const requestId = given(-60);
    executions.put('generation', requestId, 'RUNNING');

    await reconcileAt(0);

    expect(commands()).toEqual(['DescribeExecutionCommand']);
    expect(placeOf(requestId)).toEqual(listed('LOOK', 300, requestId));
  });

  test('is not even described when it was dispatched', async () => {
    const requestId = given(-60);
    await markProcessing(anImageRequest({ requestId }));

    await reconcileAt(0);

    expect(commands()).toEqual([]);
    // Five minutes after its creation.
    expect(placeOf(requestId)).toEqual(listed('LOOK', 240, requestId));
  });

  test('keeps the place that its dispatch gives it during the look', async () => {
    const requestId = given(-60);
    executions.client.on(DescribeExecutionCommand).callsFake(async () => {
      await markProcessing(anImageRequest({ requestId }), at(301));
      return { status: 'RUNNING' };
    });

    await reconcileAt(0);

    expect(placeOf(requestId)).toEqual(listed('LOOK', 301, requestId));
  });

  test('comes before all other work', async () => {
    for (let count = 0; count < 20; count++) givenWaiting(-500);
    const requestId = given(-60);
    let calls = 0;

    await reconcileAt(0, undefined, () => ++calls <= 1);

    expect(executions.names('generation')).toContain(requestId);
    expect(commands()).toEqual(['DescribeExecutionCommand', 'StartExecutionCommand']);
  });
});

describe('what is due', () => {
  test('goes on past an error, which is logged and counted, and leaves it for 2 min later', async () => {
    const ids = [given(-100), given(-90), given(-80)];
    const bad = ids[1] ?? '';
    memory.patch(requestKey(bad), { images: 'none' });

    await reconcileAt(0);

    expect(executions.names('generation')).toEqual([ids[0], ids[2]]);
    expect(logged.mock.calls).toEqual([
      ['due work could not be handled', { kind: 'request', requestId: bad, error: expect.any(Error) }],
    ]);
    expect(counted()).toContainEqual(['ReconcileFailed', {}]);
    expect(placeOf(bad)).toEqual(listed('START', 45, bad));
  });

  test('that cannot be read does not stay in front', async () => {
    request.given({ resolution: 7 as never });
    dueAt(0);

    await reconcileAt(0);

    expect(placeOf(VIDEO_ID)).toEqual(listed('LOOK', 45));
    expect(counted()).toContainEqual(['ReconcileFailed', {}]);
  });

  test('is left where it is once keepGoing returns false, first for the next run', async () => {
    const ids = Array.from({ length: 40 }, (_, index) => given(index - 200));
    let calls = 0;

    await reconcileAt(0, undefined, () => ++calls <= 20);

    expect(executions.names('generation')).toEqual(ids.slice(0, 20));
    for (const id of ids.slice(20)) expect(placeOf(id).GSI1SK).toBe(at(ids.indexOf(id) - 140));
  });

  test('is looked at by one of several runs', async () => {
    for (let count = 0; count < 10; count++) given(-100);

    await Promise.all([reconcileAt(0), reconcileAt(0), reconcileAt(0)]);

    expect(commands().filter((name) => name === 'DescribeExecutionCommand')).toHaveLength(10);
  });

  test('is handled eight items at a time', async () => {
    for (let count = 0; count < 40; count++) given(-100);
    let [atOnce, most] = [0, 0];
    executions.client.on(DescribeExecutionCommand).callsFake(async () => {
      most = Math.max(most, ++atOnce);
      await new Promise(setImmediate);
      atOnce--;
      return { status: 'RUNNING' };
    });

    await reconcileAt(0);

    expect(most).toBe(8);
  });

  test('costs what is due, not what is open: ten items among many', async () => {
    for (let count = 0; count < 2000; count++) {
      if (count % 2 === 0) given(0);
      else givenWaiting(1000);
    }
    for (let count = 0; count < 10; count++) givenWaiting(0);

    await reconcileAt(0);

    // 16 partitions of two lists; ten items, each with two queries of its attempts.
    expect(memory.calls()).toEqual({
      QueryCommand: 16 + 16 + 2 * 10,
      GetCommand: 3 * 10,
      // Claimed, the query noted, listed for later.
      UpdateCommand: 3 * 10,
    });
    expect(commands()).toEqual(Array(10).fill('SendTaskHeartbeatCommand'));
  });
});

describe('a provider that hangs', () => {
  const hanging = (seconds: number) => {
    let [atOnce, most] = [0, 0];
    let now = atSeconds(seconds).getTime();
    const clock = { now: () => new Date(now) };
    // Four at once take 10 s each.
    const provider = answering(async () => {
      most = Math.max(most, ++atOnce);
      await new Promise(setImmediate);
      atOnce--;
      now += 2_500;
      return { kind: 'busy', reason: 'it hangs' };
    });
    return { provider, clock, most: () => most };
  };

  test('is queried four times at once, and what is not reached is first in the next run', async () => {
    const ids = Array.from({ length: 400 }, (_, index) => givenWaiting(index - 400));
    const { provider, clock, most } = hanging(0);
    const stopAt = atSeconds(55);

    await reconcileDue(leadingTo(provider), () => clock.now() < stopAt, clock);

    const queried = provider.query.mock.calls.map(([taskId]) => taskId);
    expect(most()).toBe(4);
    expect(queried.length).toBeGreaterThanOrEqual(20);
    expect(queried.length).toBeLessThanOrEqual(28);
    expect(queried).toEqual(ids.slice(0, queried.length));
    for (const [index, id] of ids.entries()) {
      const place = String(placeOf(id).GSI1SK);
      if (index < queried.length) expect(place > at(300)).toBe(true);
      else expect(place).toBe(at(index - 400));
    }
  });

  test('does not delay a request that never started: it is started within 2 min of its creation', async () => {
    for (let count = 0; count < 400; count++) givenWaiting(-300);
    const requestId = given(1);
    const startedAt: number[] = [];
    let current = atSeconds(0);
    executions.client.on(StartExecutionCommand).callsFake(async () => {
      startedAt.push((current.getTime() - atSeconds(1).getTime()) / 1000);
      return {};
    });

    for (const minute of [0, 1, 2]) {
      const { provider, clock } = hanging(minute * 60);
      const stopAt = atSeconds(minute * 60 + 55);
      const reading = { now: () => (current = clock.now()) };
      await reconcileDue(leadingTo(provider), () => clock.now() < stopAt, reading);
    }

    expect(startedAt).toHaveLength(1);
    expect(startedAt[0]).toBeLessThanOrEqual(120);
    expect(placeOf(requestId)).toEqual(listed('START', 165, requestId));
  });

  test('does not delay the queries of another', async () => {
    for (let count = 0; count < 100; count++) givenWaiting(-300);
    const other = givenWaiting(0);
    memory.patch(requestKey(other), { model: 'other' });
    const { provider, clock } = hanging(0);
    const answers = { ...answering(aDone('a')), id: 'modelstudio' as const };
    const routeOf: ProviderRouteOf = async (model) => ({
      provider: model === 'other' ? answers : provider,
      upstreamModel: model,
    });
    const stopAt = atSeconds(20);

    await reconcileDue(routeOf, () => clock.now() < stopAt, clock);

    expect(executions.woken.map(({ taskToken }) => taskToken)).toEqual([other]);
  });
});

describe('a request with a running execution', () => {
  const waiting = (wait: object) => {
    request.given().waiting({ taskToken: 'token-1', ...wait });
    executions.put('generation', VIDEO_ID, 'RUNNING');
    executions.wait('token-1');
    dueAt(0);
  };

  test.each<[string, object, number, boolean, number]>([
    ['waits for less than the limit', { waitingSince: at(0) }, 299.999, false, 300],
    ['waits for as long as the limit', { waitingSince: at(0) }, 300, true, 600],
    ['was queried less than the limit ago', { waitingSince: at(0), queriedAt: at(10) }, 309.999, false, 310],
    ['was queried as long ago as the limit', { waitingSince: at(0), queriedAt: at(10) }, 310, true, 610],
    ['waits again, for less than the limit', { waitingSince: at(20), queriedAt: at(10) }, 319, false, 320],
    ['waits again, for as long as the limit', { waitingSince: at(20), queriedAt: at(10) }, 320, true, 620],
    ['is not known to wait', {}, 300, true, 600],
  ])(
    'that %s (%j): at %p s its provider is queried: %p; then due at %p s',
    async (_, wait, seconds, queried, next) => {
      waiting(wait);

      const provider = await reconcileAt(seconds, aDone('a'));

      expect(provider.query).toHaveBeenCalledTimes(queried ? 1 : 0);
      expect(executions.woken).toHaveLength(queried ? 1 : 0);
      expect(placeOf(VIDEO_ID)).toEqual(listed('LOOK', next));
      expect(commands()).not.toContain('DescribeExecutionCommand');
    },
  );

  test('gets a heartbeat while its task is unfinished, and is queried again after the same time', async () => {
    waiting({ waitingSince: at(0) });

    await reconcileAt(300);
    expect(executions.heartbeats).toEqual(['token-1']);
    expect((await reconcileAt(599)).query).not.toHaveBeenCalled();
    expect((await reconcileAt(600)).query).toHaveBeenCalledTimes(1);
  });

  test('is queried after the time that the deployment configures', async () => {
    waiting({ waitingSince: at(0) });

    await withEnvironment({ CALLBACK_WAIT_SECONDS: '40' }, async () => {
      expect((await reconcileAt(39)).query).not.toHaveBeenCalled();
      expect((await reconcileAt(40)).query).toHaveBeenCalledTimes(1);
    });
  });

  test('is woken without a query when its task finished and nobody told it', async () => {
    waiting({ waitingSince: at(0), queriedAt: at(299) });
    request.withAttempt({ outcome: aDone('a') });

    expect((await reconcileAt(300)).query).not.toHaveBeenCalled();
    expect(executions.woken).toHaveLength(1);
    expect(placeOf(VIDEO_ID)).toEqual(listed('LOOK', 600));
  });

  test.each<[string, () => void]>([
    ['is queued', () => request.given({ status: 'queued' })],
    ['stores its outputs', () => request.withAttempt({ outcome: aDone('a') })],
    ['makes a synchronous call', () => request.withAttempt({ taskId: undefined, outcome: undefined })],
  ])('is described, and left alone, when it %s', async (_, change) => {
    waiting({ waitingSince: at(0) });
    executions.reset();
    executions.put('generation', VIDEO_ID, 'RUNNING');
    change();
    dueAt(0);

    expect((await reconcileAt(300)).query).not.toHaveBeenCalled();
    expect(commands()).toContain('DescribeExecutionCommand');
    expect(placeOf(VIDEO_ID)).toEqual(listed('LOOK', 600));
  });
});

describe('a request whose execution stopped, unreported', () => {
  beforeEach(() => {
    request.given().waiting({ taskToken: 'gone', waitingSince: at(0) });
    executions.put('generation', VIDEO_ID, 'TIMED_OUT');
    dueAt(0);
  });

  test.each<[string, () => void]>([
    [
      'its provider works, and callers keep it queried',
      () => request.waiting({ taskToken: 'gone', waitingSince: at(0), queriedAt: at(299) }),
    ],
    ['its task is found to have finished', () => undefined],
    ['its task had finished', () => request.withAttempt({ outcome: aDone('a') })],
    ['it is still queued', () => request.given({ status: 'queued' }) && dueAt(0)],
  ])('is ended when %s', async (_, change) => {
    change();

    await reconcileAt(300, aDone('a'));

    expect(request.record()).toMatchObject({ status: 'failed', refundThousandths: 50_000 });
    expect(placeOf(VIDEO_ID)).toEqual({});
  });

  test.each([[{ kind: 'waiting' }], [{ kind: 'busy', reason: 'down' }]] as const)(
    'is ended when the provider answers %j',
    async (answer) => {
      await reconcileAt(300, answer);

      expect(request.record()).toMatchObject({ status: 'failed', refundThousandths: 50_000 });
    },
  );

  test('is settled when its outputs are recorded', async () => {
    request.given({ outputs: [aStoredVideo()] }).withAttempt({ outcome: aDone('a') });
    dueAt(0);

    await reconcileAt(300);

    expect(request.record()).toMatchObject({ status: 'succeeded' });
    expect(placeOf(VIDEO_ID)).toEqual(dueListing('EXPIRE', VIDEO_ID, String(request.record()?.expiresAt)));
  });
});

describe('other work', () => {
  test('resumes an interrupted deletion, and closes it once everything is removed', async () => {
    const files = [outputObjectKey(VIDEO_ID, 0, 'mp4')];
    const mark = { accountId: ACCOUNT_ID, requestId: VIDEO_ID, deletedAt: at(0), files };
    memory.put(deletedRequestKey(ACCOUNT_ID, VIDEO_ID), { ...listed('LOOK', 60), ...mark });
    memory.put(providerWaitKey(VIDEO_ID), { requestId: VIDEO_ID });
    for (const file of files) bucket.put(file);
    bucket.client.on(DeleteObjectsCommand).rejectsOnce(new Error('no bucket')).resolves({});
    const left = () => memory.get(deletedRequestKey(ACCOUNT_ID, VIDEO_ID));

    await reconcileAt(100);
    expect(left()).toMatchObject({ files, ...listed('LOOK', 145) });
    await reconcileAt(145);

    expect(left()).toEqual({
      ...deletedRequestKey(ACCOUNT_ID, VIDEO_ID),
      accountId: ACCOUNT_ID,
      requestId: VIDEO_ID,
      deletedAt: at(0),
    });
    expect(request.wait()).toBeUndefined();
    expect(executions.started).toEqual([]);
  });

  test('closes a terminal request that was not closed', async () => {
    putRequest(memory, aVideoRequest(ended));
    dueAt(60);

    await reconcileAt(100);

    expect(placeOf(VIDEO_ID)).toEqual(dueListing('EXPIRE', VIDEO_ID, at(1000)));
  });
});
