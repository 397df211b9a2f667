import { beforeAll, describe, expect, test } from '@jest/globals';
import { refusal } from './support/answers.ts';
import { itemsNaming } from './support/aws.ts';
import { type Caller, newCaller, send, sharedService, unique } from './support/client.ts';
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
/** A succeeded request and its callback path. */
let done: { request: VideoRecord; path: string };
beforeAll(async () => {
  caller = await newCaller(await sharedService());
  const request = await finishedVideo(caller, { endUserEmail: uniqueEmail() });
  done = { request, path: await callbackPath(request) };
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
  ...[{ status: 'queued' }, { status: 'running' }, { status: 'cancelled' }, { status: 'expired' }],
  { status: 'failed', error: { code: 'InternalServiceError', message: 'no' } },
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

// What a callback sets off is tested in test/unit/core/waiting and test/workflow/video-callbacks.test.ts.
test('Callbacks for a request that has ended are answered with 200, change nothing and query nobody', async () => {
  const before = await stateOf(done.request);
  const { queries } = await upstreamTask(caller, done.request);

  const bodies = [...CLAIMS, 'status=failed', [1], { padding: 'x'.repeat(300_000) }];
  const answers = await Promise.all(bodies.map((body) => callBack(done.path, body)));
  answers.push(await send(caller.service, 'POST', done.path));

  expect(answers.map((answer) => [...outcome(answer), answer.body])).toEqual(answers.map(() => [200, {}]));
  expect(await stateOf(done.request)).toEqual(before);
  expect((await upstreamTask(caller, done.request)).queries).toBe(queries);
});

test.each([
  ['[delay=0]', 'succeeded', [['generation', 24]]],
  [
    '[delay=1][fail=content_policy]',
    'failed',
    [
      ['refund', 24],
      ['generation', 24],
    ],
  ],
])(
  'Concurrent callbacks of every kind for a task (%s) end its request once, as its provider says',
  async (directives, status, entries) => {
    const request = await acceptedVideo(caller, { prompt: unique(`[callback=off]${directives}`) });
    const path = await callbackPath(request);

    const calls = CLAIMS.flatMap((claim) => [callBack(path, claim), readVideo(caller, request.requestId)]);
    await Promise.all(calls);

    expect((await settledVideo(caller, request.requestId)).status).toBe(status);
    expect(await entriesOf(caller, request.requestId)).toEqual(entries);
  },
);

describe('A forged callback is 404', () => {
  const partsOf = (path: string) => path.split('/').slice(2);

  test.each([
    ['another token', (id: string) => `/callbacks/modelark/${id}/${'0'.repeat(64)}`],
    ['a token that is no text', (id: string) => `/callbacks/modelark/${id}/%00`],
    ['another provider', (id: string, token: string) => `/callbacks/modelstudio/${id}/${token}`],
    ['another request', (_id: string, token: string) => `/callbacks/modelark/img_x/${token}`],
    ['a missing token', (id: string) => `/callbacks/modelark/${id}`],
    ['a path under /v1', (id: string, token: string) => `/v1/callbacks/modelark/${id}/${token}`],
  ])('for %s', async (_what, pathOf) => {
    const [, requestId = '', token = ''] = partsOf(done.path);
    expect(token).toMatch(/^[0-9a-f]{64}$/);

    expect(refusal(await callBack(pathOf(requestId, token)))).toEqual([404, 'not_found']);
  });

  test('and does not end a request whose task has finished', async () => {
    const request = await acceptedVideo(caller, { prompt: unique('[delay=0][callback=off]') });
    const path = await callbackPath(request);
    const forged = path.replace(/.$/, (last) => (last === '0' ? '1' : '0'));

    const answers = await Promise.all(CLAIMS.map((claim) => callBack(forged, claim)));

    expect(answers.map(refusal)).toEqual(CLAIMS.map(() => [404, 'not_found']));
    expect((await upstreamTask(caller, request)).queries).toBe(0);
    expect((await settledVideo(caller, request.requestId)).status).toBe('succeeded');
  });
});

test('A callback for a deleted request is answered with 200 and restores nothing', async () => {
  const { requestId } = done.request;
  await remove(caller, `/v1/generations/${requestId}`);

  const answers = await Promise.all(CLAIMS.map((claim) => callBack(done.path, claim)));

  expect(answers.map(({ status }) => status)).toEqual(CLAIMS.map(() => 200));
  expect(refusal(await caller.get(videoPath(requestId)))).toEqual([404, 'not_found']);
  const left = await itemsNaming(caller.service, requestId);
  // The ledger and the request's deletion mark keep the id, and the end-user that the request created names it.
  expect(left.filter((item) => !/LEDGER#|DELETED#|END_USER#/.test(item))).toEqual([]);
});
