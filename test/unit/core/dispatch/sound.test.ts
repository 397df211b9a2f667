import { expect, test } from '@jest/globals';
import { withSound } from '../../../../core/dispatch/sound.ts';
import { anImageRequest, aVideoRequest } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';

const SEEDANCE = { provider: 'modelark', upstreamModel: 'dreamina-seedance-2-0-260128' } as const;
const WAN_2_7 = { provider: 'modelstudio', upstreamModel: 'wan2.7-i2v' } as const;
const OTHER = { provider: 'fal', upstreamModel: 'acme/films' } as const;

const soundOf = async (
  route: { provider: 'modelark' | 'modelstudio' | 'fal'; upstreamModel: string },
  given: { generateAudio?: boolean } = {},
): Promise<unknown> => {
  const request = aVideoRequest({ model: 'xW3.0s', ...given });
  const MODEL_ROUTES = JSON.stringify({ 'xW3.0s': [{ ...OTHER, generateAudio: false }, route] });
  return withEnvironment({ MODEL_ROUTES }, () => {
    const said = withSound(request, route);
    return said.kind === 'video' ? said.generateAudio : 'no video';
  });
};

test.each([
  [{}, true],
  [{ generateAudio: true }, true],
  [{ generateAudio: false }, false],
])(
  'whether a video has sound is said to the maker by the setting %j of its route',
  async (setting, isSaid) => {
    expect(await soundOf({ ...SEEDANCE, ...setting })).toBe(isSaid);
  },
);

test.each([true, false])(
  'what a request says of its sound (%p) wins over the route',
  async (generateAudio) => {
    expect(await soundOf({ ...SEEDANCE, generateAudio: !generateAudio } as never, { generateAudio })).toBe(
      generateAudio,
    );
  },
);

test('an upstream without the parameter is told nothing, unless the limits of its route say that it takes it', async () => {
  expect(await soundOf(WAN_2_7)).toBeUndefined();
  expect(await soundOf({ ...WAN_2_7, limits: { parameters: ['generateAudio'] } } as never)).toBe(true);
  expect(withSound(anImageRequest(), SEEDANCE)).toEqual(anImageRequest());
});
