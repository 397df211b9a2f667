import { armFault } from '@generation-service/local-aws/faults';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { VERSION } from '../../lib/release.ts';
import { aVideo as aClip } from '../../packages/media/test/videos.ts';
import { wrongFields } from '../contract/support/answers.ts';
import { itemsNaming } from '../contract/support/aws.ts';
import { type Caller, eventually, newCaller, sharedService, unique } from '../contract/support/client.ts';
import { type ClipServer, startClipServer } from '../contract/support/clip-server.ts';
import { entriesOf, history } from '../contract/support/ledger.ts';
import { outcome, uniqueEmail } from '../contract/support/resources.ts';
import { storedKeys } from '../contract/support/stored.ts';
import { anUnfilmedVideo, createVideo, finishedVideo } from '../contract/support/videos.ts';

let caller: Caller;
/** A caller whose creations are all refused. */
let refused: Caller;
let clips: ClipServer;
beforeAll(async () => {
  const framesPerSecond = 20;
  const [withinLimit, aboveLimit, halves, threes, mov] = await Promise.all([
    aClip({ seconds: 15, framesPerSecond }),
    aClip({ seconds: 15.1, framesPerSecond }),
    aClip({ seconds: 4.5, framesPerSecond }),
    aClip({ seconds: 3, framesPerSecond }),
    aClip({ seconds: 13, container: 'mov', layout: 'index-last', framesPerSecond }),
  ]);
  const film = await aClip({ seconds: 3, framesPerSecond: 30 });
  const [webm, slow, short] = await Promise.all([
    aClip({ seconds: 3, container: 'webm', framesPerSecond }),
    aClip({ seconds: 3, framesPerSecond: 10 }),
    aClip({ seconds: 0.5, framesPerSecond }),
  ]);
  const files = {
    'once.mp4': film,
    '15.mp4': withinLimit,
    '15.1.mp4': aboveLimit,
    '4.5.mp4': halves,
    '3.mp4': threes,
    '3.webm': webm,
    'slow.mp4': slow,
    'short.mp4': short,
    '13.mov': mov,
    'page.mp4': '<html><title>no video</title></html>',
  };
  clips = await startClipServer(files, ['once.mp4']);
  const service = await sharedService();
  [caller, refused] = await Promise.all([newCaller(service), newCaller(service)]);
});
afterAll(() => clips.close());

const urlsOf = (names: string[]) => names.map((name) => clips.urlOf(name));
const create = (names: string[], more: Record<string, unknown> = {}, by = caller) =>
  createVideo(by, anUnfilmedVideo({ model: 'xW3.0s', referenceVideos: urlsOf(names), ...more }));

describe('Reference videos are measured, and billed with the output', () => {
  test.each([
    ['several clips, their sum rounded up', ['4.5.mp4', '3.mp4'], 2, 10],
    ['clips and output of the greatest total length', ['15.mp4', '13.mov'], 2, 30],
  ])('%s', async (_what, names, durationSec, billedSeconds) => {
    for (const [model, resolution, rate] of [
      ['xW3.0s', '480p', 3],
      ['xW3.0sPro', '1080p', 12],
    ] as const) {
      const { status, body } = await create(names, { model, resolution, durationSec });

      expect(status).toBe(202);
      expect((await entriesOf(caller, body.requestId)).at(-1)).toEqual(['generation', billedSeconds * rate]);
    }
  });

  test('the record of the video has the length of the output alone, and the whole cost; the provider got our copy', async () => {
    const { videos, cost, requestId } = await finishedVideo(caller, {
      model: 'xW3.0s',
      referenceVideos: urlsOf(['once.mp4']),
    });

    expect([videos?.map(({ duration }) => duration), cost]).toEqual([[2], 15]);
    expect(await entriesOf(caller, requestId)).toEqual([['generation', 15]]);
    expect(clips.agentOf('once.mp4')).toBe(`generation-service/${VERSION}`);
    // The provider has fetched it from us: its own server showed it once.
    expect((await fetch(clips.urlOf('once.mp4'))).status).toBe(404);
    expect(await storedKeys(caller.service, `clips/${requestId}`)).toEqual([]);
  });
});

// Each problem of a clip is tested in test/unit/core/creation.
describe('Reference videos that cannot be used are refused by name, before any debit', () => {
  const endUserEmail = uniqueEmail('refused');
  const createRefused = (names: string[], more: Record<string, unknown>) =>
    create(names, { endUserEmail, ...more }, refused);

  test.each([
    [
      'too long alone and with the output',
      ['3.mp4', '15.1.mp4'],
      30,
      ['referenceVideos', 'referenceVideos[1]'],
    ],
    [
      'not there, or no video',
      ['4.5.mp4', 'missing.mp4', 'page.mp4'],
      2,
      ['referenceVideos[1]', 'referenceVideos[2]'],
    ],
    [
      'what no route takes',
      ['4.5.mp4', '3.webm', 'slow.mp4', 'short.mp4'],
      2,
      ['referenceVideos[1]', 'referenceVideos[2]', 'referenceVideos[3]'],
    ],
  ])('%s', async (_what, names, durationSec, fields) => {
    expect(wrongFields(await createRefused(names, { durationSec }))).toEqual(fields);
  });

  test('and nothing is written for any of them', async () => {
    expect((await history(refused)).map(({ reason }) => reason)).toEqual(['topup']);
    expect(await itemsNaming(refused.service, endUserEmail)).toEqual([]);
  });
});

test.each([['more than 15 s together', ['15.mp4', '13.mov']]])(
  'Clips that the catalog takes and the provider refuses (%s) are refunded, and leave no copies',
  async (_what, names) => {
    const body = { model: 'xW3.0s', referenceVideos: urlsOf(names) };
    const { requestId, ...record } = await finishedVideo(caller, body);

    expect(record).toMatchObject({ status: 'failed', error: { code: 'provider_error' } });
    const [refund, debit] = await entriesOf(caller, requestId);
    expect([debit?.[0], refund]).toEqual(['generation', ['refund', debit?.[1]]]);
    await eventually(
      () => storedKeys(caller.service, `clips/${requestId}`),
      (copies) => copies.length === 0,
    );
  },
);

test('While the function that measures fails, a creation is 500 and writes nothing; one failure is repeated', async () => {
  const endUserEmail = uniqueEmail('unmeasured');
  /** A creation whose clip has a name of its own, so that the fault meets no other test's. */
  const createDuring = async (effect: 'throttle' | 'error', times: number) => {
    const name = `${Math.random()}.mp4`;
    await armFault(refused.service, { call: 'lambda:Invoke', contains: name, effect, times });
    return create([name], { endUserEmail }, refused);
  };

  expect(outcome(await createDuring('throttle', 2))).toEqual([429, 'rate_limited']);
  expect(outcome(await createDuring('error', 2))).toEqual([500, 'internal_error']);
  // No clip has that name: measuring says so.
  expect(wrongFields(await createDuring('error', 1))).toEqual(['referenceVideos[0]']);
  expect((await history(refused)).map(({ reason }) => reason)).toEqual(['topup']);
  expect(await itemsNaming(refused.service, endUserEmail)).toEqual([]);
});

// Every refusal that comes before is tested in test/unit/core/creation/create-video.test.ts.
test('Reference videos are not fetched for a creation that is refused anyway, nor again for one that is repeated', async () => {
  const body = anUnfilmedVideo({ model: 'xW3.0sPro', referenceVideos: urlsOf(['3.mp4']) });
  const key = { 'idempotency-key': unique() };
  const first = await createVideo(caller, body, key);
  const before = clips.requests();

  const answers = [
    await create(['missing.mp4'], { durationSec: 31 }),
    await create(['missing.mp4'], {}, await newCaller(caller.service, 5)),
    await createVideo(caller, body, key),
  ];

  expect(answers.map(outcome)).toEqual([[400, 'validation_error'], [402, 'payment_required'], [202]]);
  expect(answers[2]?.body).toEqual(first.body);
  expect(clips.requests()).toBe(before);
  expect((await entriesOf(caller, first.body.requestId)).at(-1)).toEqual(['generation', 60]);
});
