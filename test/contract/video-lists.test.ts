import { beforeAll, describe, expect, test } from '@jest/globals';
import { wrongFields } from './support/answers.ts';
import {
  type AnyRecord,
  accepted,
  type Caller,
  newCaller,
  read,
  settled,
  sharedService,
} from './support/client.ts';
import { failed, type ListPage, succeeded } from './support/resources.ts';
import {
  acceptedVideo,
  anUnfilmedVideo,
  finishedVideo,
  readVideo,
  settledVideo,
  type VideoRecord,
  videoPath,
} from './support/videos.ts';

const REFERENCE = 'https://example.com/first.png';

let caller: Caller;
let other: Caller;
let image: AnyRecord;
/** Newest first. */
let all: VideoRecord[];

beforeAll(async () => {
  const service = await sharedService();
  [caller, other] = await Promise.all([newCaller(service), newCaller(service)]);
  image = await succeeded(caller);
  const made = [await finishedVideo(caller, { model: 'xW3.0s', endUserEmail: 'bob@example.com' })];
  for (const model of ['xW2.7S', 'xW3.0s', 'xW2.7S']) {
    const { requestId } = await acceptedVideo(caller, anUnfilmedVideo({ model }));
    made.push(await settledVideo(caller, requestId));
  }
  all = made.toReversed();
  await acceptedVideo(other, anUnfilmedVideo());
});

const ids = (records: { requestId: string }[]) => records.map(({ requestId }) => requestId);
const withoutUrls = ({ videos, ...record }: VideoRecord) => ({
  ...record,
  ...(videos && { videos: videos.map(({ url, ...video }) => ({ ...video, hasUrl: url !== undefined })) }),
});
const list = async (query: Record<string, string> = {}, path = '/v1/videos') => {
  const { status, body } = await caller.get<ListPage<VideoRecord>>(`${path}?${new URLSearchParams(query)}`);
  expect(status).toBe(200);
  return body;
};

describe('The list of videos', () => {
  test('has the caller’s videos as reads show them, newest first, and no images', async () => {
    const page = await list();

    expect(page).toEqual({ items: expect.any(Array), page: 1, pageSize: 20, hasMore: false });
    expect(ids(page.items)).toEqual(ids(all));
    const reads = await Promise.all(all.map(({ requestId }) => readVideo(caller, requestId)));
    expect(page.items.map(withoutUrls)).toEqual(reads.map(withoutUrls));
    expect(ids((await list({}, '/v1/generations')).items)).toEqual([image.requestId]);
  });

  test.each<[string, Record<string, string>, (video: VideoRecord) => boolean]>([
    [
      'end-user',
      { endUserEmail: ' BOB@example.com' },
      ({ endUserEmail }) => endUserEmail === 'bob@example.com',
    ],
    ['status', { status: 'failed' }, ({ status }) => status === 'failed'],
    ['model', { model: 'xW2.7S' }, ({ model }) => model === 'xW2.7S'],
    [
      'model and status',
      { model: 'xW3.0s', status: 'failed' },
      ({ model, status }) => model === 'xW3.0s' && status === 'failed',
    ],
    ['a model without videos', { model: 'xW3.0sPro' }, () => false],
  ])('by %s has exactly the matching ones', async (_what, query, matches) => {
    const { items, hasMore } = await list(query);

    expect([ids(items), hasMore]).toEqual([ids(all.filter(matches)), false]);
  });

  test('has pages without gaps and repeats, also by model', async () => {
    for (const model of [undefined, 'xW2.7S', 'xW3.0s']) {
      const expected = all.filter((video) => model === undefined || video.model === model);
      const found: string[] = [];
      for (const [index] of expected.entries()) {
        const page = await list({ ...(model && { model }), page: String(index + 1), pageSize: '1' });
        found.push(...ids(page.items));
        expect(page).toMatchObject({ hasMore: index + 1 < expected.length, page: index + 1, pageSize: 1 });
      }
      expect(found).toEqual(ids(expected));
    }
  });

  test('by createdAfter and createdBefore has strictly newer and strictly older ones', async () => {
    const [newest, second, third, oldest] = all.map(({ createdAt = '' }) => createdAt) as [
      string,
      string,
      string,
      string,
    ];

    expect(ids((await list({ createdBefore: newest })).items)).toEqual(ids(all.slice(1)));
    expect(ids((await list({ createdAfter: oldest, createdBefore: newest })).items)).toEqual(
      ids(all.slice(1, 3)),
    );
    expect((await list({ createdAfter: second, createdBefore: third })).items).toEqual([]);
    expect((await list({ createdBefore: oldest, status: 'processing' })).items).toEqual([]);
  });

  test('names every wrong parameter', async () => {
    const query = 'model=xSD4.5&createdBefore=x&include=output&status=x&sort=asc';
    const wrong = ['createdBefore', 'include', 'model', 'sort', 'status'];

    expect(wrongFields(await caller.get(`/v1/videos?${query}`))).toEqual(wrong);
    expect(wrongFields(await caller.get('/v1/generations?model=xW3.0s'))).toEqual(['model']);
  });
});

test('The list of images takes model and createdBefore too', async () => {
  const { model = '', createdAt = '' } = image;
  const others = { model: model === 'xSD4.5' ? 'xSD5Pro' : 'xSD4.5' };

  expect(ids((await list({ model }, '/v1/generations')).items)).toEqual([image.requestId]);
  expect((await list(others, '/v1/generations')).items).toEqual([]);
  expect((await list({ createdBefore: createdAt }, '/v1/generations')).items).toEqual([]);
});

describe('include=input', () => {
  test('adds to reads and lists of videos what was asked, without signatures, and changes nothing else', async () => {
    const body = anUnfilmedVideo({ model: 'xW2.7S', durationSec: 3, image: `${REFERENCE}?sig=secret` });
    const { requestId } = await acceptedVideo(caller, body);
    const record = await settledVideo(caller, requestId);
    const input = {
      ...{ resolution: '720p', durationSec: 3, image: REFERENCE },
      ...{ referenceImages: [], referenceVideos: [], referenceAudios: [] },
    };

    expect((await caller.get(`${videoPath(requestId)}?include=input`)).body).toEqual({ ...record, input });
    expect((await list({ include: 'input', pageSize: '1' })).items).toEqual([{ ...record, input }]);
    expect((await list({ pageSize: '1' })).items).toEqual([record]);
  });

  test('adds them to reads and lists of images', async () => {
    const own = await newCaller(caller.service);
    const { requestId } = await accepted(own, {
      ...{ model: 'xSD4.5', prompt: '[fail=content_policy] a', aspectRatio: 'portrait', n: 2 },
      ...{ references: [`${REFERENCE}?sig=secret`], webhookUrl: 'https://example.com/hook?token=secret' },
    });
    const record = await settled(own, requestId);
    const input = {
      ...{ size: '2K', aspectRatio: 'portrait', n: 2, references: [REFERENCE] },
      webhookUrl: 'https://example.com/hook',
    };

    expect((await own.get(`/v1/generations/${requestId}?include=input`)).body).toEqual({ ...record, input });
    const { body } = await own.get<ListPage<AnyRecord>>('/v1/generations?include=input');
    expect(body.items).toEqual([{ ...record, input }]);
    expect(await read(own, requestId)).toEqual(record);
  });

  test('is refused with any other value, and where there is no record', async () => {
    const { requestId } = await failed(caller);

    for (const path of [`/v1/generations/${requestId}`, '/v1/generations', '/v1/videos'])
      expect(wrongFields(await caller.get(`${path}?include=images`))).toEqual(['include']);
    expect(wrongFields(await caller.get('/v1/balance?include=input'))).toEqual(['include']);
  });
});
