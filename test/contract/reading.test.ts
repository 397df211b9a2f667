import { beforeAll, describe, expect, test } from '@jest/globals';
import { refusal, wrongFields } from './support/answers.ts';
import {
  accepted,
  anUndrawnGeneration,
  type Caller,
  eventually,
  newCaller,
  read,
  settled,
  sharedService,
  unique,
} from './support/client.ts';
import { entriesOf, history } from './support/ledger.ts';

let caller: Caller;
let other: Caller;
beforeAll(async () => {
  const service = await sharedService();
  [caller, other] = await Promise.all([newCaller(service), newCaller(service, 0)]);
});

describe('Anything but an image request of the caller reads as 404 not_found', () => {
  test('a request of another account', async () => {
    const { requestId } = await accepted(caller, anUndrawnGeneration());

    const answer = await other.get(`/v1/generations/${requestId}`);

    expect(refusal(answer)).toEqual([404, 'not_found']);
    expect((await caller.get(`/v1/generations/${requestId}`)).status).toBe(200);
  });

  test.each([
    ['an unknown id', 'img_01ARZ3NDEKTSV4RRFFQ69G5FAV'],
    ['the id of a video', 'vid_01ARZ3NDEKTSV4RRFFQ69G5FAV'],
    ['an id that is too short', 'img_01ARZ3NDEKTSV4RRFFQ69G5FA'],
    ['an id with other characters', 'img_01ARZ3NDEKTSV4RRFFQ69G5FAU'],
    ['an id past the latest time an id can hold', 'img_81ARZ3NDEKTSV4RRFFQ69G5FAV'],
    ['no id', 'latest'],
    ['an escaped slash', 'img_01ARZ3NDEK%2FSV4RRFFQ69G5FAV'],
    ['a very long id', 'x'.repeat(3000)],
  ])('%s', async (_what, requestId) => {
    expect(refusal(await caller.get(`/v1/generations/${requestId}`))).toEqual([404, 'not_found']);
  });

  test("another spelling of an image's id, or the id of an output", async () => {
    const { requestId } = await accepted(caller, anUndrawnGeneration());

    for (const wrong of [requestId.toLowerCase(), `${requestId}_0`, requestId.replace('img_', 'vid_')]) {
      expect(refusal(await caller.get(`/v1/generations/${wrong}`))).toEqual([404, 'not_found']);
    }
  });
});

test('An unknown query parameter is refused by name', async () => {
  const { requestId } = await accepted(caller, anUndrawnGeneration());

  const answer = await caller.get(`/v1/generations/${requestId}?wait=1`);

  expect(wrongFields(answer)).toEqual(['wait']);
});

describe('A request', () => {
  test.each([
    ['that the provider answers at once', 'xZI1.0Pro'],
    ['that the provider accepts as a task', 'xQI3Pro'],
  ])('%s goes from queued to processing to succeeded and never back', async (_what, model) => {
    const created = await accepted(caller, { model, size: '512x512', prompt: unique('[delay=1.5]') });
    const seen = [created.status];

    await eventually(
      async () => {
        const { status } = await read(caller, created.requestId);
        if (status !== seen.at(-1)) seen.push(status);
        return status;
      },
      (status) => status === 'succeeded' || status === 'failed',
    );

    expect(seen).toEqual(['queued', 'processing', 'succeeded']);
  });

  test('reads the same every time, and is paid once', async () => {
    const { requestId } = await accepted(caller, { size: '512x512' });
    const first = await settled(caller, requestId);
    const entriesBefore = await history(caller);

    const reads = await Promise.all(Array.from({ length: 5 }, () => read(caller, requestId)));

    const withoutUrls = ({ images = [], ...record }: typeof first) => ({
      ...record,
      images: images.map(({ url: _signedAnew, ...image }) => image),
    });
    expect(reads.map(withoutUrls)).toEqual(Array(5).fill(withoutUrls(first)));
    expect(await history(caller)).toEqual(entriesBefore);
    expect(await entriesOf(caller, requestId)).toEqual([['generation', 1]]);
  });
});
