import { DeleteObjectsCommand } from '@aws-sdk/client-s3';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { deleteRequest } from '../../../../core/deletion/delete-requests.ts';
import { dispatchRequest } from '../../../../core/dispatch/dispatch-request.ts';
import { closeRequest } from '../../../../core/ending/close-request.ts';
import { endRequest } from '../../../../core/ending/end-request.ts';
import { failed, failedBeforeStoring, removeFilesOfFailed } from '../../../../core/ending/failed.ts';
import { clipObjectKey, outputObjectKey } from '../../../../core/object-keys.ts';
import { METRIC } from '../../../../core/observability.ts';
import type { VideoRequest } from '../../../../core/requests/request-rules.ts';
import { storeOutputs } from '../../../../core/storing/store-outputs.ts';
import {
  accountKey,
  dueListing,
  endUserKey,
  providerAttemptKey,
  requestKey,
} from '../../../../core/table/keys.ts';
import { aVideo } from '../../../../packages/media/test/videos.ts';
import { atSeconds, NOW, StoppedClock } from '../../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anAccount,
  anAttempt,
  anEndUser,
  aVideoRequest,
  EMAIL,
  putRequest,
  VIDEO_ID,
} from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { aDone, aProvider, leadingTo } from '../../builders/providers.ts';
import { aSigningKey } from '../../builders/signing-key.ts';
import { bucket } from '../../fakes/fresh-bucket.ts';
import { secrets } from '../../fakes/fresh-secrets.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { metricsCounted } from '../../fakes/metrics.ts';
import { LoopbackServer } from '../../servers/loopback-server.ts';
import '../../fakes/fresh-executions.ts';

const CALLERS = ['https://clips.example.com/a.mp4', 'https://clips.example.com/b.mov'];
const COPIES = [clipObjectKey(VIDEO_ID, 0, 'mp4'), clipObjectKey(VIDEO_ID, 1, 'mov')];
const OUTPUT = outputObjectKey(VIDEO_ID, 0, 'mp4');
const FAILURE = { code: 'provider_error', message: 'It broke.' } as const;
const clock = new StoppedClock(atSeconds(10));

/** A video made from two reference clips, with their copies. */
const given = (overrides: Partial<VideoRequest> = {}): void => {
  putRequest(memory, aVideoRequest({ referenceVideos: CALLERS, clips: COPIES, ...overrides }));
  for (const key of COPIES) bucket.put(key);
};
/** The request that a provider planned its calls for. */
const plannedBy = (provider: ReturnType<typeof aProvider>) =>
  (provider.plan.mock.calls as unknown as [[VideoRequest]])[0][0];
const keys = () => [...bucket.objects.keys()];
const due = () => memory.get(requestKey(VIDEO_ID))?.GSI1PK;
/** Refuses to remove anything, once. */
const refuseOnce = () =>
  bucket.client.on(DeleteObjectsCommand).callsFakeOnce(async ({ Delete }) => ({
    Errors: Delete.Objects.map(({ Key }: { Key: string }) => ({ Key, Code: 'InternalError' })),
  }));

beforeEach(() => {
  secrets.set('arn:callback-secret', 'secret');
  secrets.set('arn:delivery-key', aSigningKey().privateKeyPem);
  memory.put(accountKey(ACCOUNT_ID), anAccount());
  memory.put(endUserKey(ACCOUNT_ID, EMAIL), anEndUser());
});

describe('the copies of reference videos', () => {
  test('are what the provider gets, by signed URLs that outlast the deadline, and never the caller\u2019s URLs', async () => {
    given();
    const provider = aProvider('asynchronous', 1, async () => ({ kind: 'accepted', taskId: 'task-1' }));

    await dispatchRequest(VIDEO_ID, leadingTo(provider), new StoppedClock());

    const planned = plannedBy(provider);
    expect(planned).toMatchObject({ kind: 'video', requestId: VIDEO_ID });
    const urls = planned.referenceVideos.map((url) => new URL(url));
    expect(urls.map(({ pathname }) => pathname.slice(1))).toEqual(COPIES);
    const deadline = NOW.getTime() / 1000 + Number(process.env.VIDEO_DEADLINE_SECONDS);
    for (const { searchParams } of urls) {
      expect(Number(searchParams.get('Expires'))).toBe(deadline + 300);
      expect(searchParams.get('Signature')).not.toBeNull();
    }
    expect(memory.get(requestKey(VIDEO_ID))?.referenceVideos).toEqual(CALLERS);
  });

  test('are not there in requests from before, which keep their URLs, and no key is read for them', async () => {
    putRequest(memory, aVideoRequest({ referenceVideos: CALLERS }));
    secrets.reset();
    secrets.set('arn:callback-secret', 'secret');
    const provider = aProvider('asynchronous', 1, async () => ({ kind: 'accepted', taskId: 'task-1' }));

    await dispatchRequest(VIDEO_ID, leadingTo(provider), new StoppedClock());

    expect(plannedBy(provider).referenceVideos).toEqual(CALLERS);
  });

  test('are removed once the outputs are recorded', async () => {
    const counted = metricsCounted();
    const server = await new LoopbackServer().start();
    const file = await aVideo({ seconds: 1 });
    server.respond = (_, response) => response.writeHead(200).end(file);
    given({ status: 'processing' });
    memory.put(
      providerAttemptKey(VIDEO_ID, 0, 0),
      anAttempt({
        requestId: VIDEO_ID,
        outcome: { ...aDone(`${server.url}/0.mp4`), usage: { outputSeconds: 5, inputSeconds: 14 } },
      }),
    );

    await withEnvironment({ ALLOW_PRIVATE_TARGETS: 'true' }, () => storeOutputs(VIDEO_ID, clock));
    await server.close();

    expect(memory.get(requestKey(VIDEO_ID))?.outputs).toMatchObject([{ objectKey: OUTPUT }]);
    expect(keys()).toEqual([OUTPUT]);
    expect(counted()).toContainEqual([
      METRIC.providerUsageDiffers,
      { provider: expect.any(String), direction: 'more' },
    ]);
  });

  test.each([
    ['without files', failedBeforeStoring],
    ['that may have files', failed],
  ])('are removed when a request %s fails, and it stays due until they are', async (_, endingOf) => {
    given({ status: 'processing' });
    refuseOnce();

    await endRequest(VIDEO_ID, endingOf(FAILURE), { clock });
    expect(keys()).toEqual(COPIES);
    expect(due()).toBe(dueListing('CHECK', VIDEO_ID, '').GSI1PK);

    await closeRequest(VIDEO_ID, removeFilesOfFailed);
    expect(keys()).toEqual([]);
    expect(due()).toBeUndefined();
  });

  test('are removed with a deleted request, and not counted as its files', async () => {
    given({
      status: 'succeeded',
      outputs: [{ index: 0, objectKey: OUTPUT }],
      expiresAt: atSeconds(99).toISOString(),
    });
    bucket.put(OUTPUT);

    expect(await deleteRequest(ACCOUNT_ID, VIDEO_ID, NOW)).toEqual({ outcome: 'deleted', removedObjects: 1 });

    expect(keys()).toEqual([]);
  });
});
