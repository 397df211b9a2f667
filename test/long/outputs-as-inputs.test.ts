import { beforeAll, describe, expect, test } from '@jest/globals';
import { wrongFields } from '../contract/support/answers.ts';
import {
  type AnyRecord,
  aGeneration,
  type Caller,
  newCaller,
  send,
  sharedService,
} from '../contract/support/client.ts';
import { entriesOf } from '../contract/support/ledger.ts';
import { succeeded } from '../contract/support/resources.ts';
import { anUnfilmedVideo, aVideo, createVideo, settledVideo } from '../contract/support/videos.ts';

let caller: Caller;
let stranger: Caller;
let made: AnyRecord;
beforeAll(async () => {
  const service = await sharedService();
  [caller, stranger] = await Promise.all([newCaller(service), newCaller(service)]);
  made = await succeeded(caller);
});

const urlOf = ({ images = [] }: AnyRecord) => images[0]?.url ?? '';
const handleOf = (record: AnyRecord) => urlOf(record).replace(/\?.*/, '');

describe('An output of one’s own request', () => {
  test.each([
    ['as it was read', urlOf],
    ['without its signature', handleOf],
    [
      'by another name of this machine',
      (record: AnyRecord) => handleOf(record).replace('127.0.0.1', 'localhost'),
    ],
  ])('is the first frame of a video, given %s', async (_, given) => {
    const answer = await createVideo(caller, anUnfilmedVideo({ model: 'xW2.7S', image: given(made) }));

    expect(answer.status).toBe(202);
    // The provider has fetched it, and then refused the prompt.
    expect(await settledVideo(caller, answer.body.requestId)).toMatchObject({
      error: { code: 'content_policy' },
    });
    const { body } = await caller.get<{ input: unknown }>(
      `/v1/videos/${answer.body.requestId}?include=input`,
    );
    expect(body.input).toMatchObject({ image: handleOf(made) });
  });

  test('is of no use to another account, which is debited nothing', async () => {
    const body = aGeneration({ model: 'xSD4.5', size: '2K', references: [urlOf(made), handleOf(made)] });

    expect(wrongFields(await stranger.post('/v1/generations', body))).toEqual([
      'references[0]',
      'references[1]',
    ]);
    expect((await stranger.get<{ xTokens: number }>('/v1/balance')).body.xTokens).toBe(10_000);
  });

  test('is refused once its request is deleted, and for another kind of file', async () => {
    const gone = await succeeded(caller);
    await send(caller.service, 'DELETE', `/v1/generations/${gone.requestId}`, {
      headers: { authorization: `Bearer ${caller.key}` },
    });
    const body = aVideo({
      ...{ model: 'xW3.0s', referenceImages: [handleOf(gone)] },
      ...{ referenceVideos: [handleOf(made)], referenceAudios: [handleOf(made)] },
    });

    expect(wrongFields(await createVideo(caller, body))).toEqual([
      'referenceAudios[0]',
      'referenceImages[0]',
      'referenceVideos[0]',
    ]);
  });

  test('is the same input whatever its signature: a repeated creation is answered by the first', async () => {
    const repeat = (image: string) =>
      createVideo(caller, { ...said, image }, { 'Idempotency-Key': 'signed-anew' });
    const said = aVideo({ model: 'xW2.7S' });

    const [first, again] = [await repeat(urlOf(made)), await repeat(handleOf(made))];

    expect([first.status, again.status]).toEqual([202, 202]);
    expect(again.body.requestId).toBe(first.body.requestId);
    expect(
      (await entriesOf(caller, first.body.requestId)).filter(([reason]) => reason === 'generation'),
    ).toHaveLength(1);
  });
});
