import { beforeEach, describe, expect, test } from '@jest/globals';
import { requestKey } from '../../../core/table/keys.ts';
import { handler as createGeneration } from '../../../functions/api/create-generation.ts';
import { handler as createVideo } from '../../../functions/api/create-video.ts';
import { handler as measureClips } from '../../../functions/media/measure-clips.ts';
import { aGenerationBody, aVideoBody } from '../builders/bodies.ts';
import { EMAIL, putModelSettings } from '../builders/entities.ts';
import { RouteWorld } from '../builders/route-world.ts';
import { MemoryFunctions } from '../fakes/memory-functions.ts';

const world = new RouteWorld();
const { memory, executions, secrets } = world;
const functions = new MemoryFunctions();
functions.set(process.env.MEASURE_CLIPS_FUNCTION_ARN ?? '', measureClips);
beforeEach(() => {
  world.reset();
  functions.reset();
});
const nothingWritten = () => {
  expect(memory.transactions).toEqual([]);
  expect(executions.started).toEqual([]);
};

const IMAGES = {
  route: 'POST /v1/generations',
  ...{ handler: createGeneration, path: '/v1/generations', id: /^img_[0-9A-HJKMNP-TV-Z]{26}$/ },
  body: aGenerationBody({ prompt: ' a lighthouse ', n: 2 }),
  record: { model: 'xQI3Pro', prompt: 'a lighthouse', referencesCount: 0 },
  stored: { images: 2, debitThousandths: 12_000 },
};
const VIDEO = {
  route: 'POST /v1/videos',
  ...{ handler: createVideo, path: '/v1/videos', id: /^vid_[0-9A-HJKMNP-TV-Z]{26}$/ },
  body: aVideoBody({ durationSec: 7 }),
  record: { model: 'xW3.0s', prompt: 'waves' },
  stored: { kind: 'video', debitThousandths: 70_000 },
};

describe.each([IMAGES, VIDEO])('$route', ({ handler, path, id, body: sent, record, stored }) => {
  test('answers 202 with the queued record, its URL and when to read it', async () => {
    const { status, headers, body } = await world.call(handler, { body: sent });

    const pollUrl = `https://api.example.com${path}/${body.requestId}`;
    expect(status).toBe(202);
    expect(body).toStrictEqual({
      requestId: expect.stringMatching(id),
      status: 'queued',
      ...record,
      endUserEmail: EMAIL,
      createdAt: world.now.toISOString(),
      pollUrl,
    });
    expect(headers).toStrictEqual({
      'Content-Type': 'application/json',
      'X-Content-Type-Options': 'nosniff',
      'X-Request-Id': 'http-request-1',
      'X-Service-Version': '1.2.3',
      Location: pollUrl,
      'Retry-After': '5',
    });
    expect(memory.get(requestKey(body.requestId))).toMatchObject({ status: 'queued', ...stored });
    expect(executions.names('generation')).toEqual([body.requestId]);
  });

  test('takes four round trips: caller, facts, the transaction, the start', async () => {
    await world.call(handler, { body: sent });

    expect(memory.calls()).toEqual({
      UpdateCommand: 1,
      GetCommand: 1,
      BatchGetCommand: 1,
      QueryCommand: 1,
      TransactWriteCommand: 1,
    });
    expect(executions.client.calls()).toHaveLength(1);
  });

  test('answers 400 to a wrong body and a wrong query, naming all wrong fields', async () => {
    const body = { ...sent, prompt: 7, mood: 1 };
    const answer = await world.call(handler, { body, query: { page: ['1'] } });

    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({
      code: 'validation_error',
      fields: {
        ...{ prompt: 'must be a string', mood: 'is not a known field', page: 'is not a known field' },
      },
    });
    nothingWritten();
  });
});

test.each([
  ['its provider has no credential', () => secrets.set('arn:modelstudio-key', undefined)],
  ['the operator switched it off', () => putModelSettings(memory, { model: 'xQI3Pro', enabled: false })],
])('A creation is refused on a model that cannot be dispatched now: %s', async (_, given) => {
  given();
  const problem = { model: 'cannot be dispatched now' };

  for (const [body, fields] of [
    [aGenerationBody(), problem],
    [aGenerationBody({ n: 0 }), { ...problem, n: 'must be at least 1' }],
  ] as const) {
    const answer = await world.call(createGeneration, { body });
    expect([answer.status, answer.body.error.fields]).toEqual([400, fields]);
  }
  nothingWritten();
});

test('A creation is refused on a reference video that cannot be fetched', async () => {
  const body = aVideoBody({ referenceVideos: ['https://127.0.0.1/clip.mp4'] });
  const answer = await world.call(createVideo, { body });

  expect([answer.status, Object.keys(answer.body.error.fields)]).toEqual([400, ['referenceVideos[0]']]);
  nothingWritten();
});
