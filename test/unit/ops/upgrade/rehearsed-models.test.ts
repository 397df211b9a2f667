import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { findImageModel, findVideoModel } from '../../../../core/models/catalog.ts';
import { ModelRoutes } from '../../../../core/provider-calls/model-routes.ts';
import { TargetError } from '../../../../ops/target.ts';
import { pickModels } from '../../../../ops/upgrade/models.ts';

const { context } = JSON.parse(readFileSync(new URL('../../../../cdk.json', import.meta.url), 'utf8'));
/** Those of a stack with the sandbox, which has a model more. */
const ROUTES = ModelRoutes.parse({
  ...context.modelRoutes,
  'xW3.0sPro': { provider: 'modelark', upstreamModel: 'sandbox-xw3-pro' },
});

test('a stack with the sandbox has a model for each kind of work', () => {
  const { image, polledVideo, calledBackVideo } = pickModels(ROUTES);

  expect(findImageModel(image)).toBeDefined();
  expect(findVideoModel(polledVideo)).toMatchObject({ requiresImage: false });
  expect([image, polledVideo, calledBackVideo].map((model) => ROUTES[model]?.[0]?.provider)).toEqual([
    ...['modelark', 'modelstudio', 'modelark'],
  ]);
});

test.each(['modelark', 'modelstudio'])('without the routes of %s the rehearsal is refused', (provider) => {
  const others = Object.entries(ROUTES).filter(([, [route]]) => route?.provider !== provider);

  expect(() => pickModels(Object.fromEntries(others))).toThrow(TargetError);
});
