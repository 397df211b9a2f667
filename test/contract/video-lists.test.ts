import { beforeAll, describe, expect, test } from '@jest/globals';
import { type AnyRecord, type Caller, newCaller, sharedService } from './support/client.ts';
import { type ListPage, succeeded } from './support/resources.ts';
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

  // Each filter, alone and with others, and all pages are tested in test/unit/functions/list-routes.test.ts and core/requests.
  test('has exactly the matching ones by model and status, page by page', async () => {
    const expected = all.filter(({ model, status }) => model === 'xW2.7S' && status === 'failed');
    const query = { model: 'xW2.7S', status: 'failed', pageSize: '1' };

    const pages = await Promise.all(['1', '2', '3'].map((page) => list({ ...query, page })));

    expect(expected).toHaveLength(2);
    expect(pages.flatMap(({ items }) => ids(items))).toEqual(ids(expected));
    expect(pages.map(({ hasMore }) => hasMore)).toEqual([true, false, false]);
  });
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
});
