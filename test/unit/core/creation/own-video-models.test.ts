import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { setOwnModels } from '../../../../core/models/catalog.ts';
import { VideoModelData } from '../../../../core/models/model-data.ts';
import { urlsOf } from '../../builders/bodies.ts';
import { OWN_VIDEOS } from '../../builders/own-models.ts';
import { accepted, IMAGE, LAST, problems } from './parsed-videos.ts';

const { routes: _, ...VIDEOS } = OWN_VIDEOS;
const { inputModes: __, maxReferenceImages: ___, ...FROM_TEXT } = VIDEOS;
const models = [
  { ...FROM_TEXT, id: 'from-text' },
  { ...FROM_TEXT, id: 'from-pictures', inputModes: ['reference_images'], maxReferenceImages: 2 },
];
beforeAll(() => setOwnModels(models.map((model) => VideoModelData.parse(model))));
afterAll(() => setOwnModels([]));

describe('a model of the operator’s own', () => {
  test.each(models)('that takes no frames refuses them by name: $id', ({ id }) => {
    expect(accepted({ model: id })).toMatchObject({ resolution: '480p', durationSec: 5, ratio: 'adaptive' });
    expect(problems({ model: id, image: IMAGE, lastFrame: LAST })).toEqual({
      image: `${id} takes no first frame`,
      lastFrame: `${id} takes no last frame`,
    });
  });

  test('takes references of the kinds that it has, and as many', () => {
    const pictures = (model: string, count: number) =>
      problems({ model, referenceImages: urlsOf('png', count), referenceAudios: urlsOf('mp3', 1) });

    expect(pictures('from-text', 1)).toEqual({
      referenceImages: 'from-text takes none',
      referenceAudios: 'from-text takes none',
    });
    expect(pictures('from-pictures', 2)).toEqual({ referenceAudios: 'from-pictures takes none' });
    expect(pictures('from-pictures', 3)).toEqual({
      referenceImages: 'must hold at most 2 URLs',
      referenceAudios: 'from-pictures takes none',
    });
  });
});
