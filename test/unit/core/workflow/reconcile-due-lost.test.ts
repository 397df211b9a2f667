import '../../builders/environment.ts';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { dueListing } from '../../../../core/table/keys.ts';
import { aStoredVideo, VIDEO_ID } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { aDone } from '../../builders/providers.ts';
import {
  at,
  commands,
  dueAt,
  executions,
  listed,
  placeOf,
  reconcileAt,
  request,
} from '../../builders/reconciling.ts';

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

  const toCancel = () => listed('LOOK', 300);
  test.each<[string, () => void, () => object]>([
    [
      'its provider works, and callers keep it queried',
      () => request.waiting({ taskToken: 'gone', waitingSince: at(0), queriedAt: at(299) }),
      toCancel,
    ],
    ['its task is found to have finished', () => undefined, () => ({})],
    ['its task had finished', () => request.withAttempt({ outcome: aDone('a') }), () => ({})],
    ['it is still queued', () => request.given({ status: 'queued' }) && dueAt(0), toCancel],
  ])('is ended when %s, and a task that is left is then cancelled', async (_, change, place) => {
    change();

    await reconcileAt(300, aDone('a'));

    expect(request.record()).toMatchObject({ status: 'failed', refundThousandths: 50_000 });
    expect(placeOf(VIDEO_ID)).toEqual(place());
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
