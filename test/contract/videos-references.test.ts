import { armFault } from '@generation-service/local-aws/faults';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { VERSION } from '../../lib/release.ts';
import { aVideo as aClip } from '../../packages/media/test/videos.ts';
import { wrongFields } from './support/answers.ts';
import { itemsNaming } from './support/aws.ts';
import { type Caller, callerWith, eventually, newCaller, sharedService, unique } from './support/client.ts';
import { type ClipServer, startClipServer } from './support/clip-server.ts';
import { entriesOf, history } from './support/ledger.ts';
import { outcome, uniqueEmail } from './support/resources.ts';
import { storedKeys } from './support/stored.ts';
import {
  acceptedVideo,
  anUnfilmedVideo,
  createVideo,
  finishedVideo,
  settledVideo,
} from './support/videos.ts';

/** A WebM that says that it lasts a millisecond. */
const patched = (file: Buffer): Buffer => {
  const bytes = Buffer.from(file);
  bytes.writeDoubleBE(1, bytes.indexOf(Buffer.from('448988', 'hex')) + 3);
  return bytes;
};

let caller: Caller;
/** A caller whose creations are all refused. */
let refused: Caller;
let clips: ClipServer;
beforeAll(async () => {
  const [withinLimit, aboveLimit, halves, webm, mov] = await Promise.all([
    aClip({ seconds: 15 }),
    aClip({ seconds: 15.1 }),
    aClip({ seconds: 4.5 }),
    aClip({ seconds: 3, container: 'webm' }),
    aClip({ seconds: 13, container: 'mov', layout: 'index-last' }),
  ]);
  const film = await aClip({ seconds: 3, framesPerSecond: 30 });
  const files = {
    'once.mp4': film,
    'patched.webm': patched(await aClip({ seconds: 14, container: 'webm' })),
    '15.mp4': withinLimit,
    '15.1.mp4': aboveLimit,
    '4.5.mp4': halves,
    '3.webm': webm,
    '13.mov': mov,
    'page.mp4': '<html><title>no video</title></html>',
    'empty.mp4': '',
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
    ['several clips, their sum rounded up', ['4.5.mp4', '3.webm'], 2, 10],
    ['the same clip twice', ['4.5.mp4', '4.5.mp4'], 2, 11],
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
    // The provider has fetched it from us: its own server showed it once.
    expect((await fetch(clips.urlOf('once.mp4'))).status).toBe(404);
    expect(await storedKeys(caller.service, `clips/${requestId}`)).toEqual([]);
  });

  test('the server of a clip is told who fetches it', () => {
    expect(clips.agentOf('once.mp4')).toBe(`generation-service/${VERSION}`);
  });

  test('a WebM of 14 s is billed for 14 s, though it was patched to say 0.001 s', async () => {
    const { body } = await create(['patched.webm'], { durationSec: 2, resolution: '480p' });

    expect((await entriesOf(caller, body.requestId)).at(-1)).toEqual(['generation', 16 * 3]);
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
      ['3.webm', '15.1.mp4'],
      30,
      ['referenceVideos', 'referenceVideos[1]'],
    ],
    ['not there', ['4.5.mp4', 'missing.mp4'], 2, ['referenceVideos[1]']],
    ['not a video', ['page.mp4', '3.webm', 'empty.mp4'], 2, ['referenceVideos[0]', 'referenceVideos[2]']],
  ])('%s', async (_what, names, durationSec, fields) => {
    expect(wrongFields(await createRefused(names, { durationSec }))).toEqual(fields);
  });

  test('on a server that does not exist', async () => {
    const gone = await startClipServer({});
    const referenceVideos = [clips.urlOf('3.webm'), gone.urlOf('3.webm')];
    await gone.close();

    expect(wrongFields(await createRefused([], { referenceVideos }))).toEqual(['referenceVideos[1]']);
  });

  test('and nothing is written for any of them', async () => {
    expect((await history(refused)).map(({ reason }) => reason)).toEqual(['topup']);
    expect(await itemsNaming(refused.service, endUserEmail)).toEqual([]);
  });
});

describe('Clips that the catalog takes and the provider does not end with its refusal, refunded, and leave no copies', () => {
  const CLIPS: [what: string, names: string[]][] = [
    ['more than 15 s together', ['15.mp4', '13.mov']],
    ['a WebM', ['3.webm']],
  ];
  const ids = new Map<string, string>();
  beforeAll(async () => {
    const createWith = async ([what, names]: (typeof CLIPS)[number]) => {
      const body = { model: 'xW3.0s', referenceVideos: urlsOf(names) };
      ids.set(what, (await acceptedVideo(caller, body)).requestId);
    };
    await Promise.all(CLIPS.map(createWith));
  });

  test.each(CLIPS)('%s', async (what) => {
    const { requestId, ...record } = await settledVideo(caller, ids.get(what) ?? '');

    expect(record).toMatchObject({ status: 'failed', error: { code: 'provider_error' } });
    const [refund, debit] = await entriesOf(caller, requestId);
    expect([debit?.[0], refund]).toEqual(['generation', ['refund', debit?.[1]]]);
    await eventually(
      () => storedKeys(caller.service, `clips/${requestId}`),
      (copies) => copies.length === 0,
    );
  });
});

describe('Without the function that measures', () => {
  const endUserEmail = uniqueEmail('unmeasured');
  /** A creation whose clip has a name of its own, so that the fault meets no other test's. */
  const createDuring = async (effect: 'throttle' | 'error', times: number) => {
    const name = `${Math.random()}.mp4`;
    await armFault(refused.service, { call: 'lambda:Invoke', contains: name, effect, times });
    return create([name], { endUserEmail }, refused);
  };

  test('a creation is 429 with Retry-After while it is throttled', async () => {
    const answer = await createDuring('throttle', 2);

    expect(outcome(answer)).toEqual([429, 'rate_limited']);
    expect(answer.headers.get('retry-after')).toBe('2');
  });

  test('a creation is 500 while it fails', async () => {
    expect(outcome(await createDuring('error', 2))).toEqual([500, 'internal_error']);
  });

  test('one failure is repeated', async () => {
    // No clip has that name: measuring says so.
    expect(wrongFields(await createDuring('error', 1))).toEqual(['referenceVideos[0]']);
  });

  test('nothing is written', async () => {
    expect((await history(refused)).map(({ reason }) => reason)).toEqual(['topup']);
    expect(await itemsNaming(refused.service, endUserEmail)).toEqual([]);
  });
});

describe('Reference videos are not fetched', () => {
  test('for a model that takes none, when there are too many, or together with a frame', async () => {
    const before = clips.requests();
    const image = 'https://example.com/a.png';

    const answers = [
      await create(['3.webm'], { model: 'xW2.7S', resolution: '720p', image }),
      await create(Array(6).fill('3.webm')),
      await create(['3.webm'], { image }),
    ];

    expect(answers.map(wrongFields)).toEqual(Array(3).fill(['referenceVideos']));
    expect(clips.requests()).toBe(before);
  });

  test('when any other field is wrong', async () => {
    const before = clips.requests();
    const answer = await create(['missing.mp4'], { durationSec: 31, ratio: '2:1', seed: 1 });

    expect(wrongFields(answer)).toEqual(['durationSec', 'ratio', 'seed']);
    expect(clips.requests()).toBe(before);
  });

  test('for a caller whose balance does not cover the output alone', async () => {
    const before = clips.requests();
    const poor = await newCaller(caller.service, 5);
    const answer = await create(['missing.mp4'], { durationSec: 2, resolution: '480p' }, poor);

    expect(outcome(answer)).toEqual([402, 'payment_required']);
    expect(clips.requests()).toBe(before);
  });

  test('for a caller without a valid key', async () => {
    const before = clips.requests();
    const stranger = callerWith(caller.service, caller.accountId, `${caller.key}x`);

    const answer = await createVideo(
      stranger,
      anUnfilmedVideo({ model: 'xW3.0s', referenceVideos: urlsOf(['3.webm']) }),
    );

    expect(outcome(answer)).toEqual([401, 'unauthorized']);
    expect(clips.requests()).toBe(before);
  });

  test('again when a creation is repeated with its Idempotency-Key', async () => {
    const body = anUnfilmedVideo({ model: 'xW3.0sPro', referenceVideos: urlsOf(['3.webm']) });
    const key = { 'idempotency-key': unique() };
    const first = await createVideo(caller, body, key);
    const before = clips.requests();

    const again = await createVideo(caller, body, key);

    expect([again.status, again.body]).toEqual([202, first.body]);
    expect(clips.requests()).toBe(before);
    expect((await entriesOf(caller, first.body.requestId)).at(-1)).toEqual(['generation', 60]);
  });
});
