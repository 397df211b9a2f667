import { DeleteObjectsCommand } from '@aws-sdk/client-s3';
import { DescribeExecutionCommand } from '@aws-sdk/client-sfn';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { outputObjectKey } from '../../../../core/object-keys.ts';
import type { ProviderAnswer } from '../../../../core/provider-calls/providers.ts';
import { checkDue } from '../../../../core/reconciler/check.ts';
import { listDue } from '../../../../core/requests/due-items.ts';
import { AccountedRequest } from '../../../../core/requests/request-rules.ts';
import { markProcessing } from '../../../../core/requests/requests.ts';
import { deletedRequestKey, dueListing, providerWaitKey, requestKey } from '../../../../core/table/keys.ts';
import {
  ACCOUNT_ID,
  anImageRequest,
  aStoredVideo,
  aVideoRequest,
  putRequest,
  VIDEO_ID,
} from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { aDone, leadingTo } from '../../builders/providers.ts';
import {
  at,
  bucket,
  clockAt,
  commands,
  dueAt,
  dueKeyOf,
  ended,
  executions,
  given,
  listed,
  memory,
  request,
} from '../../builders/reconciling.ts';
import { answering } from '../../builders/waiting-request.ts';
import { BUSY, check, later, openUntil, WAITING, waiting } from './a-check.ts';

describe('a check of a request that may have no execution', () => {
  test('starts it once it is 45 s old, and checks it again', async () => {
    const old = [given(-100), given(-45)];
    given(-44.999);

    const { checks } = await check(0);

    expect(executions.names('generation')).toEqual(old);
    expect(checks).toEqual([openUntil(45), openUntil(45)]);
  });

  test('leaves it alone when it has one, and checks it like all others', async () => {
    const requestId = given(-60);
    executions.put('generation', requestId, 'RUNNING');

    expect((await check(0)).checks).toEqual([later]);
    expect(commands()).toEqual(['DescribeExecutionCommand']);
    expect(dueKeyOf(requestId)).toEqual(listed('CHECK', 300, requestId));
  });

  test('does not even describe it when it was dispatched', async () => {
    const requestId = given(-60);
    await markProcessing(anImageRequest({ requestId }));

    await check(0);

    expect(commands()).toEqual([]);
    // Five minutes after its creation.
    expect(dueKeyOf(requestId)).toEqual(listed('CHECK', 240, requestId));
  });

  test('keeps the due key that its dispatch gives it during the check', async () => {
    const requestId = given(-60);
    executions.client.on(DescribeExecutionCommand).callsFake(async () => {
      await markProcessing(anImageRequest({ requestId }), at(301));
      return { status: 'RUNNING' };
    });

    await check(0);

    expect(dueKeyOf(requestId)).toEqual(listed('CHECK', 301, requestId));
  });
});

describe('a check of a request whose execution stopped, unreported', () => {
  beforeEach(() => {
    request.given().waiting({ taskToken: 'gone', waitingSince: at(0) });
    executions.put('generation', VIDEO_ID, 'TIMED_OUT');
    dueAt(0);
  });

  const again = () => listed('CHECK', 300);
  test.each<[string, () => void, () => object]>([
    ['its provider works', () => undefined, again],
    ['its task had finished', () => request.withAttempt({ outcome: aDone('a') }), () => ({})],
    ['it is still queued', () => request.given({ status: 'queued' }) && dueAt(0), again],
  ])('ends it when %s, and a task that is left is then cancelled', async (_, change, dueKey) => {
    change();

    await check(300, aDone('a'));

    expect(request.record()).toMatchObject({ status: 'failed', refundThousandths: 50_000 });
    expect(dueKeyOf(VIDEO_ID)).toEqual(dueKey());
  });

  test.each<[ProviderAnswer, boolean]>([
    [WAITING, true],
    [BUSY, true],
    [aDone('a'), false],
  ])('ends it after a query that is answered %j', async (answer, callsBack) => {
    request.waiting({ taskToken: 'gone', waitingSince: at(-100) });

    expect((await check(300, answer, callsBack)).provider.query).toHaveBeenCalledTimes(1);
    expect(request.record()).toMatchObject({ status: 'failed', refundThousandths: 50_000 });
  });

  test('settles it when its outputs are recorded', async () => {
    request.given({ outputs: [aStoredVideo()] }).withAttempt({ outcome: aDone('a') });
    dueAt(0);

    await check(300);

    expect(request.record()).toMatchObject({ status: 'succeeded' });
    expect(dueKeyOf(VIDEO_ID)).toEqual(dueListing('EXPIRE', VIDEO_ID, String(request.record()?.expiresAt)));
  });
});

describe('a check of other work', () => {
  test.each([
    ['tells where an item has moved since it was listed', listed('CHECK', 20), 'moved'],
    [
      'is done with a request that waits for its expiry by now',
      dueListing('EXPIRE', VIDEO_ID, at(1000)),
      'done',
    ],
    ['is done with a request that is in no list any more', { GSI1PK: undefined, GSI1SK: undefined }, 'done'],
  ] as const)('%s, and does nothing else', async (_, dueKey, kind) => {
    waiting();
    const [due] = (await listDue('CHECK', at(0), 10)).items;
    memory.patch(requestKey(VIDEO_ID), dueKey);
    const provider = answering(aDone('a'));
    const options = { clock: clockAt(0), providerRouteOf: leadingTo(provider), keepGoing: () => true };

    const checked = due && (await checkDue(due, options));
    expect(checked).toEqual(kind === 'moved' ? { kind, due: { ...due, dueKey: dueKey } } : { kind });
    expect(provider.query).not.toHaveBeenCalled();
    expect(dueKeyOf(VIDEO_ID)).toEqual(dueKey);
  });

  test('closes a terminal request', async () => {
    putRequest(memory, aVideoRequest(ended));
    dueAt(60);

    expect((await check(100)).checks).toEqual([later]);

    expect(dueKeyOf(VIDEO_ID)).toEqual(dueListing('EXPIRE', VIDEO_ID, at(1000)));
  });

  test.each([
    ['45 s', {}, 45],
    ['2 s, while it may hold a permit that others wait for', { maxRunning: 1 }, 2],
  ])('checks a request that ended during a call again after %s', (_, limits, seconds) => {
    const route = { provider: 'modelstudio', upstreamModel: 'wan', ...limits };
    return withEnvironment({ MODEL_ROUTES: JSON.stringify({ 'xW3.0s': route }) }, async () => {
      const assignment = { route: 'modelstudio/wan', number: 1 };
      putRequest(memory, aVideoRequest({ status: 'failed', finishedAt: at(0), assignment }));
      request.withAttempt({ taskId: undefined, outcome: undefined });
      dueAt(0);

      expect((await check(10)).checks).toEqual([openUntil(10 + seconds)]);
    });
  });

  test('resumes an interrupted deletion, and closes it once everything is removed', async () => {
    const files = [outputObjectKey(VIDEO_ID, 0, 'mp4')];
    const accounted = AccountedRequest.parse(aVideoRequest(ended));
    const mark = { accountId: ACCOUNT_ID, requestId: VIDEO_ID, deletedAt: at(0), accounted };
    memory.put(deletedRequestKey(ACCOUNT_ID, VIDEO_ID), { ...listed('CHECK', 60), ...mark, files });
    memory.put(providerWaitKey(VIDEO_ID), { requestId: VIDEO_ID });
    for (const file of files) bucket.put(file);
    bucket.client.on(DeleteObjectsCommand).rejectsOnce(new Error('no bucket')).resolves({});
    const left = () => memory.get(deletedRequestKey(ACCOUNT_ID, VIDEO_ID));

    await check(100);
    expect(left()).toMatchObject({ files, ...listed('CHECK', 145) });
    await check(145);

    expect(left()).toEqual({ ...deletedRequestKey(ACCOUNT_ID, VIDEO_ID), ...mark });
    expect(memory.get(requestKey(VIDEO_ID))).toBeUndefined();
    expect(request.wait()).toBeUndefined();
    expect(executions.started).toEqual([]);
  });

  test('is made by one of several runs: a removal or deletion is claimed', async () => {
    const files = [outputObjectKey(VIDEO_ID, 0, 'mp4')];
    const accounted = AccountedRequest.parse(aVideoRequest(ended));
    const mark = { accountId: ACCOUNT_ID, requestId: VIDEO_ID, deletedAt: at(0), accounted, files };
    memory.put(deletedRequestKey(ACCOUNT_ID, VIDEO_ID), { ...listed('CHECK', 60), ...mark });

    await Promise.all([check(100), check(100), check(100)]);

    expect(bucket.client.commandCalls(DeleteObjectsCommand)).toHaveLength(1);
  });
});
