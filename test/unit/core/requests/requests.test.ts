import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { NotFoundError, UNEXPECTED_ERROR } from '../../../../core/errors.ts';
import { type ImageRequest, isTerminal } from '../../../../core/requests/request-rules.ts';
import {
  findRequest,
  findRequests,
  getRequest,
  markProcessing,
  recordOutputs,
  toRequest,
} from '../../../../core/requests/requests.ts';
import { dueListing, requestKey } from '../../../../core/table/keys.ts';
import { addSeconds } from '../../../../core/time.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import {
  anImageRequest,
  aStoredOutput,
  aStoredVideo,
  aVideoRequest,
  listingOf,
  putRequest,
  REQUEST_ID,
  VIDEO_ID,
} from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';

const given = (request: Partial<ImageRequest>) => putRequest(memory, anImageRequest(request));
const stored = () => memory.get(requestKey(REQUEST_ID));

describe('a request', () => {
  test('is read by its id, consistently, without its keys', async () => {
    given({ references: ['https://images.example.com/0.png'] });

    const dueKey = dueListing('START', REQUEST_ID, addSeconds(NOW.toISOString(), 45));
    expect(await findRequest(REQUEST_ID)).toStrictEqual(
      anImageRequest({ references: ['https://images.example.com/0.png'], ...dueKey }),
    );
    expect(memory.client.commandCalls(GetCommand)[0]?.args[0].input.ConsistentRead).toBe(true);
  });

  test('of another version is read: its error as ours, its ratio as text, without what is not known', async () => {
    given({ status: 'processing' });
    const error = { code: 'quota_exceeded', message: 'Too much.' };
    memory.put(requestKey(REQUEST_ID), { ...stored(), error, aspectRatio: 'cinema', mood: 'calm' });

    const found = await getRequest(REQUEST_ID);

    expect(found).toMatchObject({
      error: { code: 'internal_error', message: 'Too much.' },
      aspectRatio: 'cinema',
    });
    expect(found).not.toHaveProperty('mood');
  });

  test('of another version keeps what is not known when it is updated', async () => {
    given({ status: 'queued' });
    memory.put(requestKey(REQUEST_ID), { ...stored(), aspectRatio: 'cinema', mood: 'calm' });

    await markProcessing(await getRequest(REQUEST_ID), atSeconds(60).toISOString());
    await recordOutputs(REQUEST_ID, [aStoredOutput(0)]);

    expect(stored()).toMatchObject({ status: 'processing', aspectRatio: 'cinema', mood: 'calm' });
  });

  test.each<[string, Partial<ImageRequest>, Partial<ImageRequest>]>([
    ['unfinished reads as processing', {}, { status: 'processing' }],
    [
      'ended with a cost reads as succeeded',
      { refundThousandths: 0, costThousandths: 4_000 },
      { status: 'succeeded' },
    ],
    [
      'ended without a cost or an error reads as failed by us',
      { refundThousandths: 4_000 },
      { status: 'failed', error: UNEXPECTED_ERROR },
    ],
  ])('with a status of another version that is %s', async (_what, attributes, shown) => {
    given(attributes);
    memory.patch(requestKey(REQUEST_ID), { status: 'parked' });

    expect(await getRequest(REQUEST_ID)).toMatchObject({ ...shown, unknownStatus: 'parked' });
  });

  test('that lacks lists and switches of this version has them empty and off', async () => {
    given({});
    const { references: _, sequential: __, ...former } = stored() ?? {};
    memory.put(requestKey(REQUEST_ID), former);

    expect(await getRequest(REQUEST_ID)).toMatchObject({ references: [], sequential: false });
  });

  test('that cannot be read leaves the others of its batch, and is told from one that is absent', async () => {
    const other = aVideoRequest();
    putRequest(memory, other);
    given({});
    memory.patch(requestKey(REQUEST_ID), { accountId: 7 });

    const found = await findRequests([REQUEST_ID, 'img_absent', other.requestId]);

    expect(found.requests.map(({ requestId }) => requestId)).toEqual([other.requestId]);
    expect(found.unreadable).toEqual([REQUEST_ID]);
  });

  test('for a video is read as it was written', async () => {
    const video = aVideoRequest({
      status: 'succeeded',
      image: 'https://caller.example/first.png',
      lastFrame: 'https://caller.example/last.png',
      referenceAudios: ['https://caller.example/a.mp3'],
      outputs: [aStoredVideo()],
      operatorNote: 'checked',
      expiresAt: atSeconds(82_800).toISOString(),
      ttl: atSeconds(100 * 86_400).getTime() / 1000,
    });
    putRequest(memory, video);

    expect(await findRequest(video.requestId)).toStrictEqual(video);
  });

  test('that does not exist is not found', async () => {
    expect(await findRequest(REQUEST_ID)).toBeUndefined();
    await expect(getRequest(REQUEST_ID)).rejects.toThrow(NotFoundError);
  });

  test('that is stored malformed is refused, not guessed', () => {
    const { PK } = requestKey(REQUEST_ID);
    const image = { PK, ...anImageRequest() };

    expect(toRequest(image)).toEqual(anImageRequest());
    expect(() => toRequest({ ...image, status: 4 })).toThrow();
    expect(() => toRequest({ ...image, status: undefined })).toThrow();
    expect(() => toRequest({ ...image, kind: 'audio' })).toThrow();
    expect(() => toRequest({ ...image, kind: 'video' })).toThrow();
    expect(() =>
      toRequest({ ...requestKey(VIDEO_ID), ...aVideoRequest(), billedSeconds: undefined }),
    ).toThrow();
    expect(() => toRequest({ ...image, debitThousandths: undefined })).toThrow();
  });

  test('that names another request than its key is refused: some roles could write the name', () => {
    const { PK } = requestKey(VIDEO_ID);

    expect(() => toRequest({ PK, ...anImageRequest() })).toThrow(`${PK} names another request.`);
  });

  test.each([
    ['queued', false],
    ['processing', false],
    ['succeeded', true],
    ['failed', true],
  ] as const)('that is %s is terminal: %p', (status, expected) => {
    expect(isTerminal({ status })).toBe(expected);
  });
});

describe('marking a request as processing', () => {
  test('is one conditional update', async () => {
    given({});
    await markProcessing(anImageRequest());

    expect(memory.calls()).toEqual({ UpdateCommand: 1 });
    const processing = anImageRequest({ status: 'processing' });
    expect(stored()).toEqual({
      ...{ ...requestKey(REQUEST_ID), ...processing, ...listingOf(processing) },
      ...dueListing('START', REQUEST_ID, atSeconds(45).toISOString()),
    });
  });

  test('says when to check it next, in the same update', async () => {
    given({});
    await markProcessing(anImageRequest(), atSeconds(300).toISOString());

    expect(stored()).toMatchObject({
      status: 'processing',
      ...dueListing('CHECK', REQUEST_ID, atSeconds(300).toISOString()),
    });
    expect(memory.calls()).toEqual({ UpdateCommand: 1 });
  });

  test.each(['processing', 'succeeded', 'failed'] as const)('leaves one that is %s alone', async (status) => {
    given({ status });
    await markProcessing(anImageRequest());

    expect(stored()).toEqual({
      ...requestKey(REQUEST_ID),
      ...anImageRequest({ status }),
      ...listingOf(anImageRequest({ status })),
    });
  });
});

describe('recording outputs', () => {
  const outputs = [aStoredOutput(0), { index: 1 }];

  test('is one conditional update', async () => {
    given({ status: 'processing' });

    expect(await recordOutputs(REQUEST_ID, outputs)).toBe(true);
    expect(memory.calls()).toEqual({ UpdateCommand: 1 });
    expect(stored()).toMatchObject({ status: 'processing', outputs });
    expect(stored()).not.toHaveProperty('permitReleased');
  });

  test('records in the same update that its permit is released', async () => {
    given({ status: 'processing' });

    expect(await recordOutputs(REQUEST_ID, outputs, true)).toBe(true);
    expect(stored()).toMatchObject({ outputs, permitReleased: true });
  });

  test.each(['queued', 'succeeded', 'failed'] as const)('leaves one that is %s alone', async (status) => {
    given({ status });

    expect(await recordOutputs(REQUEST_ID, outputs)).toBe(false);
    expect(stored()).not.toHaveProperty('outputs');
  });

  test('leaves an earlier recording alone: it may be settled by that already', async () => {
    given({ status: 'processing', outputs: [aStoredOutput(0)] });

    expect(await recordOutputs(REQUEST_ID, [{ index: 0 }])).toBe(false);
    expect(stored()).toMatchObject({ outputs: [aStoredOutput(0)] });
  });
});
