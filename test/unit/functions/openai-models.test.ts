import { beforeEach, describe, expect, test } from '@jest/globals';
import { putAlias, putEnabled } from '../../../core/models/model-settings.ts';
import { requestKey } from '../../../core/table/keys.ts';
import { handler as createGeneration } from '../../../functions/api/create-generation.ts';
import { handler as create } from '../../../functions/api/create-openai-image.ts';
import { handler as getModel } from '../../../functions/api/get-openai-model.ts';
import { handler as listModels } from '../../../functions/api/list-openai-models.ts';
import { EMAIL } from '../builders/entities.ts';
import { withEnvironment } from '../builders/environment.ts';
import { useOpenAiCalls } from './openai-calls.ts';

const { world, memory, executions, calls } = useOpenAiCalls();
const BODY = { model: 'gpt-image-1', prompt: 'a lighthouse', user: EMAIL };

beforeEach(async () => {
  await putAlias('gpt-image-1', 'xQI3Pro');
  await putAlias('dall-e-3', 'xSD4.5');
});

const listed = async (): Promise<string[]> => {
  const { body } = await world.call(listModels, { query: { 'api-version': ['1'] } });
  return body.data.map(({ id }: { id: string }) => id);
};
const find = (model: string) => world.call(getModel, { pathParameters: { model } });
const refusal = async (body: object) => {
  const answer = await world.call(create, { body: { ...BODY, ...body } });
  expect([memory.transactions, executions.started]).toEqual([[], []]);
  const { param, message } = answer.body.error;
  return [answer.status, param, message];
};

describe('an alias of a model', () => {
  test('is a model of the list, after those of the catalog, and is found by its name', async () => {
    const ids = await listed();

    expect(ids).toEqual(expect.arrayContaining(['xQI3Pro', 'xSD4.5']));
    expect(ids.slice(-2)).toEqual(['dall-e-3', 'gpt-image-1']);
    expect(await find('gpt-image-1')).toMatchObject({
      status: 200,
      body: { id: 'gpt-image-1', object: 'model' },
    });
  });

  test('makes images of its model', async () => {
    const { status, requestId } = await calls.make(BODY, { endsAfterSeconds: 0 });

    expect(status).toBe(200);
    expect(memory.get(requestKey(requestId))).toMatchObject({ model: 'xQI3Pro', size: '2K' });
  });

  test('is held to the limits of its model', async () => {
    expect(await refusal({ model: 'dall-e-3', size: '1024x1024' })).toEqual([
      ...[400, 'size'],
      "'size' 1024x1024 is too small: xSD4.5 needs at least 3,686,400 pixels (e.g. 2048x2048)",
    ]);
    expect((await refusal({ output_format: 'jpeg' })).slice(0, 2)).toEqual([400, 'output_format']);
  });

  test('is not offered while its model cannot be dispatched', async () => {
    await putEnabled('xQI3Pro', false);

    expect(await listed()).not.toContain('gpt-image-1');
    expect((await find('gpt-image-1')).status).toBe(404);
    expect(await refusal({})).toEqual([400, 'model', "'model' cannot be dispatched now"]);
  });

  test('is unknown to the rest of the API', async () => {
    const body = { model: 'gpt-image-1', prompt: 'a lighthouse', endUserEmail: EMAIL };

    expect(await world.call(createGeneration, { body })).toMatchObject({
      status: 400,
      body: { error: { fields: { model: 'is not an image model' } } },
    });
  });
});

describe('an unknown model', () => {
  test.each(['gpt-image-2', 'xW3.0s', 'constructor', '__proto__', ''])(
    'is refused by a message with its name and those on offer: %j',
    async (model) => {
      const [status, param, message] = await refusal({ model });

      expect([status, param]).toEqual([400, 'model']);
      expect(message).toBe(`'model' "${model}" is not on offer: choose ${(await imageNames()).join(', ')}`);
    },
  );

  test('is cut short in the message', async () => {
    const [, , message] = await refusal({ model: 'x'.repeat(10_000) });

    expect(message.length).toBeLessThan(300);
  });

  test('is 404 among the models, by the same words', async () => {
    const { status, body } = await find('gpt-image-2');

    expect([status, body.error.param, body.error.code]).toEqual([404, 'model', 'model_not_found']);
    expect(body.error.message).toMatch(/^The model "gpt-image-2" is not on offer: choose .*, gpt-image-1\.$/);
  });
});

const imageNames = async (): Promise<string[]> => (await listed()).filter((id) => !id.startsWith('xW'));

test('a size that one of several routes makes is not refused for the others', async () => {
  const routes = ['z-image-turbo', 'another-model'].map((upstreamModel) => ({
    ...{ provider: 'modelstudio', upstreamModel },
  }));
  for (const order of [routes, routes.toReversed()])
    await withEnvironment({ MODEL_ROUTES: JSON.stringify({ 'xZI1.0Pro': order }) }, async () => {
      expect((await refusal({ model: 'xZI1.0Pro', size: '256x256', n: 99 })).slice(0, 2)).toEqual([400, 'n']);
    });
});

test('a size that the catalog allows and no route makes is refused by naming one that a route makes', async () => {
  const route = { provider: 'modelstudio', upstreamModel: 'z-image-turbo' };
  await withEnvironment({ MODEL_ROUTES: JSON.stringify({ 'xZI1.0Pro': route }) }, async () => {
    expect(await refusal({ model: 'xZI1.0Pro', size: '256x256' })).toEqual([
      ...[400, 'size'],
      "'size' has 65,536 pixels; the provider takes 262,144 to 4,194,304 (e.g. 1024x1024)",
    ]);
  });
});

describe('a format that the model does not make', () => {
  const ARK = { provider: 'modelark', upstreamModel: 'seedream' };
  const STUDIO = { provider: 'modelstudio', upstreamModel: 'qwen-image' };
  const FAL = { provider: 'fal', upstreamModel: 'fal-ai/bytedance/seedream/v4.5' };

  test.each<[string, object[], string, string | undefined]>([
    ['the other one', [ARK], 'png', 'must be jpeg: the model makes no other'],
    ['the other one', [STUDIO, STUDIO], 'jpeg', 'must be png: the model makes no other'],
    ['its own', [STUDIO], 'png', undefined],
    ['either, where routes differ', [ARK, STUDIO], 'png', 'must be what the model makes'],
    ['any, where its provider does not say', [FAL], 'png', 'must be what the model makes'],
  ])('is %s: routes %j, %s', async (_, routes, format, problem) => {
    world.secrets.set('arn:fal-key', 'key');
    await withEnvironment({ MODEL_ROUTES: JSON.stringify({ xQI3Pro: routes }) }, async () => {
      // A second problem, so that nothing is made where the format fits.
      const body = { model: 'xQI3Pro', output_format: format, n: problem === undefined ? 99 : 1 };
      const { body: answer } = await world.call(create, { body: { ...BODY, ...body } });

      expect(answer.error.message).toEqual(
        problem === undefined ? expect.stringMatching(/^'n' /) : `'output_format' ${problem}`,
      );
    });
  });
});
