import { expect, test } from '@jest/globals';
import { CATALOG, DEFAULT_RATES } from '../../core/models/catalog.ts';
import { useCaller } from './support/use-caller.ts';

const caller = useCaller(0);

/** The models as they are published, with their rates. */
const PUBLISHED = JSON.parse(
  JSON.stringify(CATALOG.map((model) => ({ ...model, rate: DEFAULT_RATES[model.id] }))),
);

// Written out in test/unit/core/models/catalog.test.ts. Without rates: test/long/unpublished-rates.test.ts.
test('The catalog lists exactly the models of the service, with the rate of each where the operator publishes rates', async () => {
  const { status, body } = await caller.get('/v1/models');

  expect(status).toBe(200);
  expect(body).toEqual({ data: PUBLISHED });
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
  expect(body.data.map(({ inputs: _, ...model }) => model)).toEqual(PUBLISHED);
  expect(await caller.get('/v1/models?include=rates')).toMatchObject({
    status: 400,
    body: { error: { fields: { include: 'must be inputs' } } },
  });
});
