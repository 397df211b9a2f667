import '../builders/environment.ts';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { dueListing, requestKey } from '../../../core/table/keys.ts';
import { handler as createVideo } from '../../../functions/api/create-video.ts';
import { handler as measureClips } from '../../../functions/media/measure-clips.ts';
import { aVideoBody } from '../builders/bodies.ts';
import { EMAIL } from '../builders/entities.ts';
import { RouteWorld } from '../builders/route-world.ts';
import { MemoryFunctions } from '../fakes/memory-functions.ts';

const world = new RouteWorld();
const { memory, executions } = world;
const functions = new MemoryFunctions();
functions.set(process.env.MEASURE_CLIPS_FUNCTION_ARN ?? '', measureClips);
beforeEach(() => {
  world.reset();
  functions.reset();
});

describe('POST /v1/videos', () => {
  const create = (body: unknown) => world.call(createVideo, { body });

  test('answers 202 with the queued record, its URL and when to read it', async () => {
    const { status, headers, body } = await create(aVideoBody({ durationSec: 7 }));

    const pollUrl = `https://api.example.com/v1/videos/${body.requestId}`;
    expect(status).toBe(202);
    expect(body).toStrictEqual({
      requestId: expect.stringMatching(/^vid_[0-9A-HJKMNP-TV-Z]{26}$/),
      model: 'xW3.0s',
      status: 'queued',
      prompt: 'waves',
      endUserEmail: EMAIL,
      createdAt: world.now.toISOString(),
      pollUrl,
    });
    expect(headers).toMatchObject({ Location: pollUrl, 'Retry-After': '5' });
    expect(memory.get(requestKey(body.requestId))).toMatchObject({
      ...dueListing('START', body.requestId, new Date(world.now.getTime() + 45_000).toISOString()),
      kind: 'video',
      status: 'queued',
      debitThousandths: 70_000,
    });
    expect(executions.names('generation')).toEqual([body.requestId]);
  });

  test('takes three round trips to the table: caller, facts, the transaction', async () => {
    await create(aVideoBody());

    expect(memory.calls()).toEqual({
      UpdateCommand: 1,
      GetCommand: 1,
      BatchGetCommand: 1,
      QueryCommand: 1,
      TransactWriteCommand: 1,
    });
  });

  test.each([
    ['no JSON', '{', { body: 'must be JSON' }],
    ['no body', undefined, { model: 'is required', prompt: 'is required', endUserEmail: 'is required' }],
    [
      'wrong fields',
      aVideoBody({ durationSec: 31, ratio: '2:1', n: 1 }),
      { durationSec: expect.any(String), ratio: expect.any(String), n: 'is not a known field' },
    ],
    ['an image model', aVideoBody({ model: 'xQI3Pro' }), { model: 'is not a video model' }],
  ])('answers 400 to %s, naming the wrong fields', async (_, body, fields) => {
    const answer = await create(body);

    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({ code: 'validation_error', fields });
    expect(Object.keys(answer.body.error.fields).sort()).toEqual(Object.keys(fields).sort());
    expect(memory.transactions).toEqual([]);
  });

  test('answers 400 for a reference video that cannot be fetched', async () => {
    const { status, body } = await create(aVideoBody({ referenceVideos: ['https://127.0.0.1/clip.mp4'] }));

    expect(status).toBe(400);
    expect(Object.keys(body.error.fields)).toEqual(['referenceVideos[0]']);
    expect(memory.transactions).toEqual([]);
  });

  test.each<[string, number, Record<string, string>, () => void]>([
    [
      '429, to be repeated soon, while the function that measures is throttled',
      429,
      { 'Retry-After': '2' },
      () => functions.refuse(Object.assign(new Error(), { name: 'TooManyRequestsException' })),
    ],
    ['500 when Lambda does not answer', 500, {}, () => functions.refuse(new Error('No answer.'))],
  ])('answers %s, and writes nothing', async (_, expected, header, given) => {
    given();
    const { status, headers, body } = await create(
      aVideoBody({ referenceVideos: ['https://clips.example.com/clip.mp4'] }),
    );

    expect(status).toBe(expected);
    expect(headers).toMatchObject(header);
    expect(body.error.code).toBe(status === 429 ? 'rate_limited' : 'internal_error');
    expect(memory.transactions).toEqual([]);
    expect(executions.started).toEqual([]);
  });
});
