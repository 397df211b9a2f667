import { expect, test } from '@jest/globals';
import { CATALOG } from '../../core/models/catalog.ts';
import { aGeneration } from '../contract/support/client.ts';
import { useCaller } from '../contract/support/use-caller.ts';

const caller = useCaller(0, 'guarded');

test('The catalog of a deployment that publishes no rates has none', async () => {
  const { status, body } = await caller.get('/v1/models');

  expect(status).toBe(200);
  // `toEqual` fails on any extra key, such as a rate.
  expect(body).toEqual(JSON.parse(JSON.stringify({ data: CATALOG })));
});

test('There are no quotes where no rates are published', async () => {
  // The path is none of that deployment: the document is not held to its answer.
  const answer = await fetch(`${caller.service.baseUrl}/v1/quotes`, {
    method: 'POST',
    headers: { authorization: `Bearer ${caller.key}` },
    body: JSON.stringify({ kind: 'image', ...aGeneration() }),
  });
  expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code: 'not_found' } }]);
});
