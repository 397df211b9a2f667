import { expect, test } from '@jest/globals';
import { requestKey } from '../../../../core/table/keys.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { memory } from './a-creation.ts';
import { aClip, create } from './a-video-creation.ts';

const ROUTES = {
  'xW3.0s': [
    {
      ...{ provider: 'modelstudio', upstreamModel: 'wan3.0-video' },
      limits: { inputs: { video: { types: ['video/mp4'], minSeconds: 4 } } },
    },
    { provider: 'modelark', upstreamModel: 'another' },
  ],
};
const body = { referenceVideos: ['https://a.example/1.mp4'], durationSec: 2, resolution: '480p' };

test.each([
  [2_000, 'modelark/another', ['modelstudio/wan3.0-video']],
  [5_000, 'modelstudio/wan3.0-video', undefined],
])('a clip of %i ms goes first to the route that takes it: %s', async (durationMs, route, unfitRoutes) => {
  await withEnvironment({ MODEL_ROUTES: JSON.stringify(ROUTES) }, async () => {
    const { request } = await create(body, (async () => [aClip(durationMs, 'mp4')]) as never);

    expect(request).toMatchObject({ assignment: { route } });
    expect(memory.get(requestKey(request.requestId))?.unfitRoutes).toEqual(unfitRoutes);
  });
});
