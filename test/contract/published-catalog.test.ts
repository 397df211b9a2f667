import { expect, test } from '@jest/globals';
import { CATALOG, DEFAULT_RATES } from '../../core/models/catalog.ts';
import { useCaller } from './support/use-caller.ts';

const caller = useCaller(0, 'guarded');
const publishing = useCaller(0);

test('The catalog lists exactly the models of the service, as they are published', async () => {
  const { status, body } = await caller.get('/v1/models');

  expect(status).toBe(200);
  // Written out in test/unit/core/models/catalog.test.ts. `toEqual` fails on any extra key, such as a rate.
  expect(body).toEqual(JSON.parse(JSON.stringify({ data: CATALOG })));
});

test('The catalog contains the rate of each model where the operator publishes rates, and nothing else more', async () => {
  const { body } = await publishing.get<{ data: { id: string; rate?: unknown }[] }>('/v1/models');

  expect(body.data).toEqual(CATALOG.map((model) => ({ ...model, rate: DEFAULT_RATES[model.id] })));
});

test('With include=inputs each model has the limits on its files; another include is refused', async () => {
  const { body } = await caller.get<{ data: { id: string; inputs?: object }[] }>('/v1/models?include=inputs');
  const inputs = Object.fromEntries(body.data.map((model) => [model.id, model.inputs]));

  expect(inputs['xZI1.0Pro']).toEqual({});
  expect(inputs['xW2.7S']).toEqual({
    image: {
      types: ['image/jpeg', 'image/png', 'image/bmp', 'image/webp'],
      ...{ maxBytes: 20 * 1024 * 1024, minSide: 240, maxSide: 8_000, maxRatio: 8, alpha: false },
    },
  });
  expect(body.data.map(({ inputs: _, ...model }) => model)).toEqual(JSON.parse(JSON.stringify(CATALOG)));
  expect(await caller.get('/v1/models?include=rates')).toMatchObject({
    status: 400,
    body: { error: { fields: { include: 'must be inputs' } } },
  });
});
