import { beforeAll, describe, expect, test } from '@jest/globals';
import { refusal } from './support/answers.ts';
import { itemsNaming } from './support/aws.ts';
import { type Caller, eventually, newCaller, send, sharedService, unique } from './support/client.ts';
import { entriesOf } from './support/ledger.ts';
import { endUserOf, outcome, remove, uniqueEmail } from './support/resources.ts';
import {
  acceptedVideo,
  finishedVideo,
  readVideo,
  settledVideo,
  upstreamTask,
  type VideoRecord,
  videoPath,
} from './support/videos.ts';

let caller: Caller;
/** Two succeeded requests, each with its callback path. */
let done: { request: VideoRecord; path: string };
let other: { request: VideoRecord; path: string };
beforeAll(async () => {
  caller = await newCaller(await sharedService());
  const finished = async () => {
    const request = await finishedVideo(caller, { endUserEmail: uniqueEmail() });
    return { request, path: await callbackPath(request) };
  };
  [done, other] = await Promise.all([finished(), finished()]);
});

/** The callback path the provider was given for a request; waits until it has it. */
const callbackPath = async (request: VideoRecord): Promise<string> => {
  const { callbackUrl = '' } = await upstreamTask(caller, request);
  expect(callbackUrl.startsWith(`${caller.service.baseUrl}/callbacks/modelark/${request.requestId}/`)).toBe(
    true,
  );
  return callbackUrl.slice(caller.service.baseUrl.length);
};

/** Calls back as a provider does: without a key. */
const callBack = (path: string, body: unknown = {}) => send(caller.service, 'POST', path, { body });

/** Bodies a provider might send, true or not. */
const CLAIMS = [
  { status: 'queued' },
  { status: 'running' },
  { status: 'failed', error: { code: 'InternalServiceError', message: 'no' } },
  { status: 'cancelled' },
  { status: 'expired' },
  { status: 'succeeded', content: { video_url: 'https://example.com/another.mp4' } },
];

/** Everything a change to a request would show in, without URLs, which are signed afresh on each read. */
const stateOf = async ({ requestId, endUserEmail = '' }: VideoRecord) => {
  const { videos = [], ...record } = await readVideo(caller, requestId);
  return {
    record,
    videos: videos.map(({ url, ...video }) => ({ ...video, hasUrl: url !== undefined })),
    entries: await entriesOf(caller, requestId),
    endUser: await endUserOf(caller, endUserEmail),
  };
};

describe('A callback for a request that has ended changes nothing and is answered with 200', () => {
  test.each(CLAIMS)('with the body %j', async (claim) => {
    const before = await stateOf(done.request);

    const answers = await Promise.all(Array.from({ length: 3 }, () => callBack(done.path, claim)));

    expect(answers.map((answer) => [...outcome(answer), answer.body])).toEqual(Array(3).fill([200, {}]));
    expect(await stateOf(done.request)).toEqual(before);
  });

  test.each([
    ['none', undefined],
    ['not JSON', 'status=failed'],
    ['an array', [1]],
    ['large', { padding: 'x'.repeat(300_000) }],
  ])('even if its body is %s', async (_what, body) => {
    expect((await send(caller.service, 'POST', done.path, body === undefined ? {} : { body })).status).toBe(
      200,
    );
  });

  test('and does not query the provider', async () => {
    const { queries } = await upstreamTask(caller, done.request);

    await callBack(done.path);

    expect((await upstreamTask(caller, done.request)).queries).toBe(queries);
  });
});

/** Sends callbacks for a request until it ends, and returns its record. */
const calledBack = ({ requestId }: VideoRecord, path: string): Promise<VideoRecord> =>
  eventually(
    async () => {
      await callBack(path, CLAIMS[0]);
      return readVideo(caller, requestId);
    },
    ({ status }) => status === 'succeeded' || status === 'failed',
  );

describe('A callback for an unfinished request only triggers a query of its provider', () => {
  /** Sends every kind of callback for a task whose provider sends none. */
  const claimAllAbout = async (directives: string) => {
    const request = await acceptedVideo(caller, {
      prompt: unique(`[callback=off]${directives}`),
      endUserEmail: uniqueEmail(),
    });
    const path = await callbackPath(request);
    const answers = await Promise.all(CLAIMS.map((claim) => callBack(path, claim)));
    return { request, path, statuses: answers.map(({ status }) => status) };
  };

  test.each([
    ['fails', '[delay=1][fail=content_policy]', ['failed', 'content_policy']],
    ['succeeds', '[delay=1]', ['succeeded', undefined]],
  ])('a task that %s does so, whatever earlier callbacks claimed', async (_what, directives, ending) => {
    const { request, path, statuses } = await claimAllAbout(directives);

    const { status, error } = await calledBack(request, path);

    expect(statuses).toEqual(Array(CLAIMS.length).fill(200));
    expect([status, error?.code]).toEqual(ending);
    const [debit, ...refunds] = (await entriesOf(caller, request.requestId)).toReversed();
    expect(debit).toEqual(['generation', 24]);
    expect(refunds).toEqual(status === 'failed' ? [['refund', 24]] : []);
  });

  test('concurrent callbacks of every kind for a finished task end its request once', async () => {
    const { request, path } = await claimAllAbout('[delay=0]');

    await Promise.all(
      CLAIMS.flatMap((claim) => [callBack(path, claim), readVideo(caller, request.requestId)]),
    );

    expect((await settledVideo(caller, request.requestId)).status).toBe('succeeded');
    expect(await entriesOf(caller, request.requestId)).toEqual([['generation', 24]]);
  });
});

describe('A forged callback is 404', () => {
  const UNKNOWN = 'vid_01ARZ3NDEKTSV4RRFFQ69G5FAV';
  const partsOf = (path: string) => path.split('/').slice(2);

  test('with the token of another request', async () => {
    const [provider = '', requestId = '', token = ''] = partsOf(done.path);
    const [, , othersToken = ''] = partsOf(other.path);
    const wrong = [
      ...[othersToken, token.slice(0, -1), `${token}0`, token.toUpperCase(), '0'.repeat(64), 'x', '%00', 'é'],
    ];
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(othersToken).not.toBe(token);

    const answers = await Promise.all(
      wrong.map((each) =>
        callBack(`/callbacks/${provider}/${requestId}/${encodeURIComponent(each)}`, CLAIMS[2]),
      ),
    );

    expect(answers.map(refusal)).toEqual(wrong.map(() => [404, 'not_found']));
  });

  test.each([
    ['an unknown provider', (id: string, token: string) => `/callbacks/acme/${id}/${token}`],
    ['another provider', (id: string, token: string) => `/callbacks/modelstudio/${id}/${token}`],
    ['another request', (_id: string, token: string) => `/callbacks/modelark/img_x/${token}`],
    ['an unknown video', (_: string, token: string) => `/callbacks/modelark/${UNKNOWN}/${token}`],
    ['__proto__', (_: string, token: string) => `/callbacks/modelark/__proto__/${token}`],
    ['an empty token', (id: string) => `/callbacks/modelark/${id}/`],
    ['a missing token', (id: string) => `/callbacks/modelark/${id}`],
    ['a path under /v1', (id: string, token: string) => `/v1/callbacks/modelark/${id}/${token}`],
  ])('for %s', async (_what, pathOf) => {
    const [, requestId = '', token = ''] = partsOf(done.path);

    expect(refusal(await callBack(pathOf(requestId, token)))).toEqual([404, 'not_found']);
  });

  test('and does not end a request whose task has finished', async () => {
    const prompt = unique('[delay=0][callback=off]');
    const request = await acceptedVideo(caller, { prompt });
    const path = await callbackPath(request);

    const answers = await Promise.all(
      CLAIMS.map((claim) =>
        callBack(
          path.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
          claim,
        ),
      ),
    );

    expect(answers.map(refusal)).toEqual(CLAIMS.map(() => [404, 'not_found']));
    expect((await upstreamTask(caller, request)).queries).toBe(0);
    expect((await settledVideo(caller, request.requestId)).status).toBe('succeeded');
  });
});

test('A callback for a deleted request is answered with 200 and restores nothing', async () => {
  const { requestId } = other.request;
  await remove(caller, `/v1/generations/${requestId}`);

  const answers = await Promise.all(CLAIMS.map((claim) => callBack(other.path, claim)));

  expect(answers.map(({ status }) => status)).toEqual(CLAIMS.map(() => 200));
  expect(refusal(await caller.get(videoPath(requestId)))).toEqual([404, 'not_found']);
  const left = await itemsNaming(caller.service, requestId);
  // The ledger and its mark keep it, and the end-user whom it made is named by it.
  expect(left.filter((item) => !/LEDGER#|DELETED#|END_USER#/.test(item))).toEqual([]);
});
