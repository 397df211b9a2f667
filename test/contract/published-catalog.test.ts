import { expect, test } from '@jest/globals';
import { CATALOG, DEFAULT_RATES } from '../../core/models/catalog.ts';
import { useCaller } from './support/use-caller.ts';

const caller = useCaller(0);
const publishing = useCaller(0, 'guarded');

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
