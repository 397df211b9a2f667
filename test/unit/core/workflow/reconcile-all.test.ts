import '../../builders/environment.ts';
import { DeleteObjectsCommand } from '@aws-sdk/client-s3';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { logger } from '../../../../core/observability.ts';
import type { ProviderAnswer } from '../../../../core/provider-calls/providers.ts';
import type { VideoRequest } from '../../../../core/requests/request-rules.ts';
import {
  accountKey,
  deletedRequestKey,
  endUserKey,
  openWorkListing,
  outputObjectKey,
  providerWaitKey,
  requestKey,
} from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import { reconcileAll } from '../../../../core/workflow/reconcile.ts';
import { atSeconds, NOW, StoppedClock } from '../../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anAccount,
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
import { answering, WaitingRequest } from '../../builders/waiting-request.ts';
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
/** Puts the request back on the open work, as before it is closed. */
const stillOpen = () => memory.patch(requestKey(VIDEO_ID), openWorkListing(VIDEO_ID, NOW.toISOString()));

describe('reconciling all open work', () => {
  const always = () => true;
  const reconcileAt = (seconds: number, answer: ProviderAnswer = { kind: 'waiting' }, keepGoing = always) => {
    const provider = answering(answer);
    return reconcileAll(leadingTo(provider), keepGoing, clockAt(seconds)).then(() => provider);
  };
  /** Puts a queued request created at this second; returns its id. */
  const given = (seconds: number): string => {
    const createdAt = atSeconds(seconds);
    const requestId = aRequestId(createdAt);
    putRequest(memory, anImageRequest({ requestId, createdAt: createdAt.toISOString() }));
    return requestId;
  };

  test('starts the execution of a request that has none, once the request is 30 s old', async () => {
    const old = [given(-100), given(-30.001)];
    given(-30);
    given(0);

    await reconcileAt(0);

    expect(executions.names('generation').sort()).toEqual(old.sort());
  });

  test('does not describe executions that are listed as running', async () => {
    const running = [given(-100), given(-90)];
    for (const name of running) executions.put('generation', name, 'RUNNING');
    const lost = given(-80);

    await reconcileAt(0);

    const commands = executions.client.calls().map(({ args }) => args[0].constructor.name);
    expect(commands.sort()).toEqual([
      'DescribeExecutionCommand',
      'ListExecutionsCommand',
      'StartExecutionCommand',
    ]);
    expect(executions.names('generation')).toEqual([...running, lost]);
  });

  test('logs and counts an error with one request and continues with the others', async () => {
    const ids = [given(-100), given(-90), given(-80)];
    memory.patch(requestKey(ids[1] ?? ''), { images: 'none' });

    await reconcileAt(0);

    expect(executions.names('generation').sort()).toEqual([ids[0], ids[2]]);
    expect(logged.mock.calls).toEqual([
      ['a request could not be reconciled', { requestId: ids[1], error: expect.any(Error) }],
    ]);
    expect(counted()).toContainEqual(['ReconcileFailed', {}]);
  });

  test('takes no more work once keepGoing returns false', async () => {
    for (let count = 0; count < 40; count++) given(-100);
    let calls = 0;

    await reconcileAt(0, undefined, () => ++calls <= 20);

    expect(executions.names('generation')).toHaveLength(20);
  });

  test('works on at most eight requests at once', async () => {
    for (let count = 0; count < 40; count++) given(-100);
    let [atOnce, most] = [0, 0];
    memory.beforeCall = async () => {
      most = Math.max(most, ++atOnce);
      await new Promise(setImmediate);
      atOnce--;
    };

    await reconcileAt(0);

    expect(executions.names('generation')).toHaveLength(40);
    // The list of open work is read at the same time.
    expect(most).toBeLessThanOrEqual(9);
    expect(most).toBeGreaterThan(1);
  });

  describe('a request that waits for a callback', () => {
    const waiting = (wait: object) => {
      request.given().waiting({ taskToken: 'token-1', ...wait });
      executions.put('generation', VIDEO_ID, 'RUNNING');
      executions.wait('token-1');
    };

    test.each<[string, object, number, boolean]>([
      ['for less than the limit', { waitingSince: at(0) }, 299.999, false],
      ['for as long as the limit', { waitingSince: at(0) }, 300, true],
      ['queried less than the limit ago', { waitingSince: at(0), queriedAt: at(10) }, 309.999, false],
      ['queried as long ago as the limit', { waitingSince: at(0), queriedAt: at(10) }, 310, true],
      ['again, for less than the limit', { waitingSince: at(20), queriedAt: at(10) }, 319.999, false],
      ['again, for as long as the limit', { waitingSince: at(20), queriedAt: at(10) }, 320, true],
    ])('%s (%j) is queried %p s later: %p', async (_, wait, seconds, queried) => {
      waiting(wait);

      const provider = await reconcileAt(seconds, aDone('a'));

      expect(provider.query).toHaveBeenCalledTimes(queried ? 1 : 0);
      expect(executions.woken).toHaveLength(queried ? 1 : 0);
    });

    test('gets a heartbeat while its task is unfinished, and is queried again after the same time', async () => {
      waiting({ waitingSince: at(0) });

      await reconcileAt(300);
      expect(executions.heartbeats).toEqual(['token-1']);
      expect((await reconcileAt(599)).query).not.toHaveBeenCalled();
      expect((await reconcileAt(600)).query).toHaveBeenCalledTimes(1);
    });

    test('waits as long as the deployment configures', async () => {
      waiting({ waitingSince: at(0) });

      await withEnvironment({ CALLBACK_WAIT_SECONDS: '40' }, async () => {
        expect((await reconcileAt(39)).query).not.toHaveBeenCalled();
        expect((await reconcileAt(40)).query).toHaveBeenCalledTimes(1);
      });
    });

    test.each<[string, () => void]>([
      ['has no execution waiting yet', () => memory.remove(providerWaitKey(VIDEO_ID))],
      ['is being dispatched', () => request.given({ status: 'queued' })],
      ['has ended', () => request.given(ended) && stillOpen()],
    ])('is not queried when it %s', async (_, change) => {
      waiting({ waitingSince: at(0) });
      change();

      expect((await reconcileAt(4000)).query).not.toHaveBeenCalled();
    });
  });

  test('resumes an interrupted deletion, and closes it once everything is removed', async () => {
    const files = [outputObjectKey(VIDEO_ID, 0, 'mp4')];
    const mark = { accountId: ACCOUNT_ID, requestId: VIDEO_ID, deletedAt: at(0), files };
    memory.put(deletedRequestKey(ACCOUNT_ID, VIDEO_ID), { ...openWorkListing(VIDEO_ID, at(0)), ...mark });
    memory.put(providerWaitKey(VIDEO_ID), { requestId: VIDEO_ID });
    for (const file of files) bucket.put(file);
    bucket.client.on(DeleteObjectsCommand).rejectsOnce(new Error('no bucket')).resolves({});
    const left = () => memory.get(deletedRequestKey(ACCOUNT_ID, VIDEO_ID));

    await reconcileAt(100);
    expect(left()).toMatchObject({ files, ...openWorkListing(VIDEO_ID, at(0)) });
    await reconcileAt(160);

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
    stillOpen();

    await reconcileAt(100);

    expect(executions.names('expiry')).toEqual([VIDEO_ID]);
  });
});
