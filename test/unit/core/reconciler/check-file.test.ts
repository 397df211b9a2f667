import { clearCaches } from '@aws-lambda-powertools/parameters';
import { afterAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { logger } from '../../../../core/observability.ts';
import { checkFile } from '../../../../core/reconciler/check-file.ts';
import { dueListing, requestKey } from '../../../../core/table/keys.ts';
import { at, clockAt } from '../../builders/clocks.ts';
import { anImageRequest, aStoredOutput, putRequest } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { aSigningKey } from '../../builders/signing-key.ts';
import { secrets } from '../../fakes/fresh-secrets.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { metricsCounted } from '../../fakes/metrics.ts';
import { LoopbackServer } from '../../servers/loopback-server.ts';

const files = await new LoopbackServer().start();
afterAll(() => files.close());
const logged = jest.spyOn(logger, 'error').mockReturnValue(undefined);
let counted: ReturnType<typeof metricsCounted>;
beforeEach(() => {
  clearCaches();
  secrets.set('arn:delivery-key', aSigningKey().privateKeyPem);
  files.reset();
  logged.mockClear();
  counted = metricsCounted();
});

/** A request that succeeded, whose files are kept until this second. */
const stored = (requestId: string, keptUntil: number, overrides = {}) => {
  const request = anImageRequest({
    ...{ requestId, status: 'succeeded', expiresAt: at(keptUntil) },
    outputs: [aStoredOutput(0, { objectKey: `outputs/${requestId}/0.png` })],
    ...overrides,
  });
  putRequest(memory, request);
  memory.patch(requestKey(requestId), dueListing('EXPIRE', requestId, at(keptUntil)));
};
const OLDER = 'img_01JD4KXQ8M0000000000000001';
const NEWEST = 'img_01JD4KXQ8M0000000000000002';
const check = (seconds = 0, baseUrl = files.url, everySeconds = 60) =>
  withEnvironment({ FILE_DELIVERY_BASE_URL: baseUrl }, () => checkFile(everySeconds, clockAt(seconds)));

describe('the check of a stored file', () => {
  test('fetches one byte of the newest output by its signed URL, and counts that it came', async () => {
    stored(OLDER, 500);
    stored(NEWEST, 900);
    files.answer(206, 'x');

    await check();

    expect(files.requests).toEqual([
      expect.objectContaining({
        path: expect.stringMatching(`^/outputs/${NEWEST}/0.png\\?Expires=.*Signature=`),
        headers: expect.objectContaining({ range: 'bytes=0-0' }),
      }),
    ]);
    expect(counted()).toEqual([['FileUnreachable', {}, 0]]);
  });

  test.each([403, 404, 500, 302])(
    'counts a file that its server answers with %d, and logs the status',
    async (status) => {
      stored(NEWEST, 900);
      files.answer(status, '');

      await check();

      expect(counted()).toEqual([['FileUnreachable', {}]]);
      expect(logged).toHaveBeenCalledWith('a stored file is unreachable', {
        ...{ requestId: NEWEST, problem: `status ${status}` },
      });
    },
  );

  test('counts a server that nobody can connect to', async () => {
    stored(NEWEST, 900);

    await check(0, 'http://127.0.0.1:1');

    expect(counted()).toEqual([['FileUnreachable', {}]]);
    expect(logged).toHaveBeenCalledWith('a stored file is unreachable', {
      ...{ requestId: NEWEST, problem: expect.stringMatching(/^\w*Error: ./) },
    });
  });

  test('counts a server that does not answer within ten seconds', async () => {
    stored(NEWEST, 900);
    const time = new AbortController();
    const limit = jest.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(time.signal);
    files.respond = () => time.abort(new Error('its time is up'));

    await check();

    expect(limit).toHaveBeenCalledWith(10_000);
    expect(counted()).toEqual([['FileUnreachable', {}]]);
    limit.mockRestore();
  });

  test('leaves a server that sends the whole file', async () => {
    stored(NEWEST, 900);
    const left = Promise.withResolvers<void>();
    files.respond = (_, response) => {
      response.once('close', left.resolve);
      response.writeHead(200).write('x');
    };

    await check();
    await left.promise;

    expect(counted()).toEqual([['FileUnreachable', {}, 0]]);
  });

  test.each<[string, number, object]>([
    ['has expired', -1, {}],
    ['has no file, since none could be stored', 900, { outputs: [{ index: 0 }] }],
    ['has failed', 900, { status: 'failed', expiresAt: undefined }],
  ])('fetches nothing when the newest request %s', async (_, keptUntil, overrides) => {
    stored(NEWEST, keptUntil, overrides);

    await check();

    expect([files.requests, counted()]).toEqual([[], []]);
  });

  test('is made in the first run of an hour only', async () => {
    stored(NEWEST, 90_000);
    files.answer(206, 'x');

    for (let seconds = 0; seconds < 7_200; seconds += 60) await check(seconds);

    expect(files.requests).toHaveLength(2);
  });

  test('is made in each hour, however seldom runs are', async () => {
    stored(NEWEST, 90_000);
    files.answer(206, 'x');

    for (let seconds = 1_700; seconds < 14_400; seconds += 1_800) await check(seconds, files.url, 1_800);

    expect(files.requests).toHaveLength(4);
  });

  test('says nothing of a request that is deleted while its file is fetched', async () => {
    stored(NEWEST, 900);
    files.respond = (_, response) => {
      memory.remove(requestKey(NEWEST));
      response.writeHead(403).end();
    };

    await check();

    expect([files.requests.length, counted()]).toEqual([1, []]);
  });

  test('does not fail the run when the list cannot be read', async () => {
    memory.client.rejects(new Error('no table'));

    await check();

    expect([counted(), logged.mock.calls.length]).toEqual([[], 1]);
  });
});
