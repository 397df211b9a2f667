import { beforeAll, describe, expect, test } from '@jest/globals';
import { refusal } from './support/answers.ts';
import { type AnyRecord, type Caller, newCaller, sharedService } from './support/client.ts';
import { fetchFile } from './support/files.ts';
import { entriesOf, expectUnbrokenChain } from './support/ledger.ts';
import { measureVideoFile } from './support/media.ts';
import { endUserOf, endUserPath, remove, succeeded } from './support/resources.ts';
import { finishedVideo, readVideo, type VideoRecord, videoPath } from './support/videos.ts';

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

test('Videos are deleted like images, alone or with their end-user, and leave their entries in the ledger', async () => {
  const email = emailOf('xW3.0sPro');
  const alone = await remove(caller, `/v1/generations/${filmOf('xW2.7S').requestId}`);
  const { status, body } = await remove(caller, endUserPath(email));

  expect(alone.body).toMatchObject({ removedObjects: 1 });
  expect([status, body]).toEqual([200, { email, deleted: true, removedRequests: 2, removedObjects: 2 }]);
  for (const { requestId, videos = [] } of [filmOf('xW2.7S'), filmOf('xW3.0sPro')]) {
    expect(refusal(await caller.get(videoPath(requestId)))).toEqual([404, 'not_found']);
    expect((await fetchFile(videos[0]?.url)).status).toBe(403);
  }
  expect((await fetchFile(image.images?.[0]?.url)).status).toBe(403);
  expect(await endUserOf(caller, email)).toBeUndefined();
  for (const [model, , cost] of FILMS) {
    expect(await entriesOf(caller, filmOf(model).requestId)).toEqual([['generation', cost]]);
  }
  await expectUnbrokenChain(caller);
});
