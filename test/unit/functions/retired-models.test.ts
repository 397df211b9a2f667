import { beforeEach, describe, expect, test } from '@jest/globals';
import { handler as createGeneration } from '../../../functions/api/create-generation.ts';
import { handler as createOpenAiImage } from '../../../functions/api/create-openai-image.ts';
import { handler as createVideo } from '../../../functions/api/create-video.ts';
import { handler as listModels } from '../../../functions/api/list-models.ts';
import { handler as listOpenAiModels } from '../../../functions/api/list-openai-models.ts';
import { handler as openAiVideos } from '../../../functions/api/openai-videos.ts';
import { aGenerationBody } from '../builders/bodies.ts';
import { aCaller } from '../builders/callers.ts';
import { EMAIL, putModelSettings } from '../builders/entities.ts';
import { stopTime } from '../builders/stop-time.ts';
import { useOpenAiCalls } from './openai-calls.ts';

const { world, memory, executions, calls } = useOpenAiCalls();

const inSeconds = (seconds: number): string => new Date(world.now.getTime() + seconds * 1000).toISOString();
/** Announces an hour ago that both models end in so many seconds. */
const retireIn = (seconds: number): void => {
  for (const [model, replacedBy] of [
    ['xQI3Pro', 'xSD4.5'],
    ['xW3.0s', 'xW3.0sPro'],
  ] as const) {
    const retirement = { announcedAt: inSeconds(-3_600), retiresAt: inSeconds(seconds), replacedBy };
    putModelSettings(memory, { model, retirement });
  }
};
const notices = (seconds: number) => ({
  Deprecation: `@${Math.floor((world.now.getTime() - 3_600_000) / 1000)}`,
  Sunset: new Date(world.now.getTime() + seconds * 1000).toUTCString(),
});

const VIDEO = { model: 'xW3.0s', prompt: 'waves', endUserEmail: EMAIL };
const OPENAI_IMAGE = { model: 'xQI3Pro', prompt: 'a lighthouse', user: EMAIL };
const OPENAI_VIDEO = { model: 'xW3.0s', prompt: 'waves', user: EMAIL };
const videos = { resource: '/openai/v1/videos' };
const image = (headers?: Record<string, string>) =>
  world.call(createGeneration, { body: aGenerationBody(), ...(headers && { headers }) });
const video = () => world.call(createVideo, { body: VIDEO });
const openAiVideo = () => world.call(openAiVideos, { ...videos, body: OPENAI_VIDEO });

describe('a model whose end is announced', () => {
  beforeEach(() => retireIn(86_400));

  test('is listed with its end and its successor', async () => {
    const { body } = await world.call(listModels);
    const found = (body.data as { id: string }[]).find(({ id }) => id === 'xQI3Pro');
    expect(found).toMatchObject({ retiresAt: inSeconds(86_400), replacedBy: 'xSD4.5' });
    expect((body.data as { id: string }[]).find(({ id }) => id === 'xSD4.5')).not.toHaveProperty('retiresAt');
  });

  test.each([
    ['images', () => image()],
    ['a video', video],
    ["a video of OpenAI's clients", openAiVideo],
  ])('is told in the headers of a creation of %s', async (_, create) => {
    const { status, headers } = await create();
    expect([200, 202]).toContain(status);
    expect(headers).toMatchObject(notices(86_400));
    expect(executions.started).toHaveLength(1);
  });

  test("is told in the headers of images of OpenAI's clients", async () => {
    const { status, headers } = await calls.make(OPENAI_IMAGE, { endsAfterSeconds: 1 });
    expect([status, headers]).toEqual([200, expect.objectContaining(notices(86_400))]);
  });

  test('changes no answer of another model', async () => {
    const { headers } = await world.call(createGeneration, { body: aGenerationBody({ model: 'xSD4.5' }) });
    expect(headers).not.toHaveProperty('Deprecation');
    expect(headers).not.toHaveProperty('Sunset');
  });
});

/** An answer of `/v1` or `/openai/v1`, as far as these tests read it. */
type Answer = Awaited<ReturnType<typeof image>>;

describe('a model after its end', () => {
  beforeEach(() => retireIn(0));

  test.each<[string, string, () => Promise<Answer>]>([
    ['images', 'xSD4.5', () => image()],
    ['a video', 'xW3.0sPro', video],
  ])('is refused for %s on `model`, with its successor, before any debit', async (_, successor, create) => {
    const { status, body } = await create();
    expect([status, body.error.code]).toEqual([400, 'validation_error']);
    expect(body.error.fields).toEqual({ model: `was retired at ${inSeconds(0)}: use ${successor}` });
    expect([memory.transactions, executions.started]).toEqual([[], []]);
  });

  test.each<[string, string, () => Promise<Answer>]>([
    ['images', 'xSD4.5', () => world.call(createOpenAiImage, { body: OPENAI_IMAGE })],
    ['a video', 'xW3.0sPro', openAiVideo],
  ])("is refused for %s of OpenAI's clients, which do not repeat it", async (_, successor, create) => {
    const { status, headers, body } = await create();
    expect([status, body.error.param, headers['x-should-retry']]).toEqual([400, 'model', 'false']);
    expect(body.error.message).toMatch(`: use ${successor}`);
    expect([memory.transactions, executions.started]).toEqual([[], []]);
  });

  test('is named beside whatever else is wrong', async () => {
    const { body } = await world.call(createGeneration, { body: aGenerationBody({ n: 0 }) });
    expect(Object.keys(body.error.fields)).toEqual(['model', 'n']);
  });

  test('is on no list', async () => {
    const { body } = await world.call(listModels);
    const openAi = await world.call(listOpenAiModels);
    for (const { id } of [...body.data, ...openAi.body.data]) expect(['xQI3Pro', 'xW3.0s']).not.toContain(id);
  });

  test('still answers the retries of a creation that was accepted before', async () => {
    retireIn(60);
    const { headers: own } = await aCaller(memory);
    const headers = { ...own, 'Idempotency-Key': 'key-1' };
    const first = await image(headers);
    expect(first.status).toBe(202);

    stopTime(new Date(inSeconds(60)));
    const again = await image(headers);

    expect(again).toEqual({ ...first, headers: { ...first.headers, 'Idempotency-Replayed': 'true' } });
    expect((await image({ ...own, 'Idempotency-Key': 'key-2' })).status).toBe(400);
    expect(executions.started).toHaveLength(1);
  });

  test("still gives an equal call of OpenAI's clients the images of the request before", async () => {
    retireIn(30);
    const first = await calls.make(OPENAI_IMAGE);
    expect(first.status).toBe(408);
    calls.succeed(first.requestId);

    const again = await calls.make(OPENAI_IMAGE);

    expect([again.status, executions.started.length]).toEqual([200, 1]);
    expect(again.headers.Location).toBe(first.headers.Location);
  });
});
