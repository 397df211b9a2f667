import { beforeAll, describe, expect, test } from '@jest/globals';
import { refusal } from './support/answers.ts';
import { type AnyRecord, type Caller, newCaller, sharedService, unique } from './support/client.ts';
import { fetchFile } from './support/files.ts';
import { entriesOf, expectUnbrokenChain } from './support/ledger.ts';
import { measureVideoFile } from './support/media.ts';
import { bulkRemove, endUserOf, endUserPath, remove, succeeded, uniqueEmail } from './support/resources.ts';
import {
  acceptedVideo,
  finishedVideo,
  readVideo,
  settledVideo,
  type VideoRecord,
  videoPath,
} from './support/videos.ts';

interface Film {
  resolution: string;
  durationSec: number;
  ratio?: string;
}

/** A video of each model: its request, its cost and its size in pixels. */
const FILMS: [model: string, requested: Film, cost: number, size: string][] = [
  ['xW2.7S', { resolution: '720p', durationSec: 2 }, 10, '1280x720'],
  ['xW3.0s', { resolution: '480p', durationSec: 3, ratio: '9:16' }, 9, '480x854'],
  ['xW3.0sPro', { resolution: '1080p', durationSec: 2, ratio: '1:1' }, 24, '1080x1080'],
];

let caller: Caller;
let other: Caller;
/** The record of each succeeded film, by model. */
const films = new Map<string, VideoRecord>();
const filmOf = (model: string) => films.get(model) ?? { requestId: '', status: 'missing' };
const emailOf = (model: string) => `${model.toLowerCase()}@example.com`;
/** An image of the same end-user as the film of xW3.0sPro. */
let image: AnyRecord;
beforeAll(async () => {
  const service = await sharedService();
  [caller, other] = await Promise.all([newCaller(service), newCaller(service, 0)]);
  const film = async ([model, body]: (typeof FILMS)[number]) => {
    films.set(model, await finishedVideo(caller, { model, ...body, endUserEmail: emailOf(model) }));
  };
  const drawn = succeeded(caller, { endUserEmail: emailOf('xW3.0sPro') });
  await Promise.all(FILMS.map(film));
  image = await drawn;
});

/** The task fails at once without a callback: the request is unfinished until it is read. */
const ENDED_BY_A_READ = '[delay=0][callback=off][empty]';

describe.each(FILMS)('A video made with %s and %j', (model, requested, cost, size) => {
  test('has the requested fields in its record, and the cost it states, and reads the same again', async () => {
    const { requestId, videos = [], finishedAt = '', ...record } = filmOf(model);

    expect(record).toMatchObject({ model, status: 'succeeded', cost, endUserEmail: emailOf(model) });
    expect(videos).toMatchObject([
      { id: `${requestId}_0`, duration: requested.durationSec, resolution: requested.resolution },
    ]);
    expect(Date.parse(videos[0]?.expiresAt ?? '') - Date.parse(finishedAt)).toBe(82_800_000);
    expect(await endUserOf(caller, emailOf(model))).toMatchObject({
      totalXTokensSpent: cost + (model === 'xW3.0sPro' ? (image.cost ?? 0) : 0),
    });
    const { videos: _signedAnew, ...again } = await readVideo(caller, requestId);
    expect(again).toEqual({ requestId, finishedAt, ...record });
    expect(await entriesOf(caller, requestId)).toEqual([['generation', cost]]);
  });

  test('is an H.264 MP4 of that length and size at its URL', async () => {
    const file = await fetchFile(filmOf(model).videos?.[0]?.url);

    expect([file.status, file.type]).toEqual([200, 'video/mp4']);
    expect(await measureVideoFile(file)).toEqual({
      type: 'video/mp4',
      codec: 'avc',
      size,
      seconds: requested.durationSec,
    });
  });
});

test('A video cannot be read as an image or by another account, and an image not as a video', async () => {
  const { requestId } = filmOf('xW2.7S');

  const answers = [
    await caller.get(`/v1/generations/${requestId}`),
    await other.get(videoPath(requestId)),
    await caller.get(videoPath(image.requestId)),
    await caller.get(videoPath(image.requestId.replace('img_', 'vid_'))),
  ];

  expect(answers.map(refusal)).toEqual(answers.map(() => [404, 'not_found']));
});

describe('Videos are deleted like images', () => {
  const expectGone = async ({ requestId, videos = [] }: VideoRecord) => {
    expect(refusal(await caller.get(videoPath(requestId)))).toEqual([404, 'not_found']);
    expect((await fetchFile(videos[0]?.url)).status).toBe(403);
    expect(refusal(await remove(caller, `/v1/generations/${requestId}`))).toEqual([404, 'not_found']);
  };

  test('but in no way while one is unfinished', async () => {
    const endUserEmail = uniqueEmail();
    const prompt = unique(ENDED_BY_A_READ);
    const { requestId } = await acceptedVideo(caller, { endUserEmail, prompt });

    const one = await remove(caller, `/v1/generations/${requestId}`);
    const several = await bulkRemove(caller, [requestId]);
    const cascade = await remove(caller, endUserPath(endUserEmail));

    expect([one, cascade].map(refusal)).toEqual(Array(2).fill([409, 'conflict']));
    expect(several.body).toMatchObject({ deleted: 0, conflicts: [requestId] });
    expect((await settledVideo(caller, requestId)).status).toBe('failed');
    expect((await remove(caller, endUserPath(endUserEmail))).body).toMatchObject({ removedRequests: 1 });
  });

  test("one by one or several at once, among images and others' ids", async () => {
    const { requestId } = filmOf('xW3.0s');
    const one = filmOf('xW2.7S').requestId;
    expect((await remove(caller, `/v1/generations/${one}`)).body).toMatchObject({ removedObjects: 1 });
    await expectGone(filmOf('xW2.7S'));
    const missing = ['vid_01ARZ3NDEKTSV4RRFFQ69G5FAV', one];
    expect((await bulkRemove(other, [requestId])).body).toMatchObject({ deleted: 0, notFound: [requestId] });

    const { body } = await bulkRemove(caller, [requestId, ...missing]);

    expect(body).toEqual({ requested: 3, deleted: 1, removedObjects: 1, conflicts: [], notFound: missing });
    await expectGone(filmOf('xW3.0s'));
  });

  test('with their end-user, together with the images', async () => {
    const email = emailOf('xW3.0sPro');

    const { status, body } = await remove(caller, endUserPath(email));

    expect([status, body]).toEqual([200, { email, deleted: true, removedRequests: 2, removedObjects: 2 }]);
    await expectGone(filmOf('xW3.0sPro'));
    expect((await fetchFile(image.images?.[0]?.url)).status).toBe(403);
    expect(await endUserOf(caller, email)).toBeUndefined();
  });

  test('and leave their entries in the ledger, which is unbroken', async () => {
    for (const [model, , cost] of FILMS) {
      expect(await entriesOf(caller, filmOf(model).requestId)).toEqual([['generation', cost]]);
    }
    await expectUnbrokenChain(caller);
  });
});
