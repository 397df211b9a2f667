import { CATALOG, type ImageModel, type VideoModel } from '../../core/models/catalog.ts';
import type { ModelSettings } from '../../core/models/model-settings.ts';
import { imagePrice, rateOf, videoPrice } from '../../core/models/rates.ts';
import { PRESET_SIDE_PIXELS } from '../../core/models/size-presets.ts';
import type { Thousandths } from '../../core/money.ts';

/** The end-user that the requests of a smoke test are for. */
export const SMOKE_EMAIL = 'smoke@example.com';

/** A request to create: the body, the price, and the expected properties of the file. */
interface Creation<Expected> {
  body: Record<string, unknown> & { model: string };
  priceThousandths: Thousandths;
  expected: Expected;
}

/** The requests of a smoke test. Undefined where no model can be used. */
export interface Creations {
  image: Creation<{ width: number; height: number }> | undefined;
  video: Creation<{ seconds: number; resolution: string }> | undefined;
}

const PROMPT = 'A lighthouse on a cliff at dawn';

/**
 * The cheapest image and the cheapest video among these models, at the rates in force. A video model that needs an
 * image is left out: there is none at hand.
 */
export const planCreations = (
  modelIds: readonly string[],
  settings: ReadonlyMap<string, ModelSettings>,
): Creations => {
  const offered = CATALOG.filter(({ id }) => modelIds.includes(id));
  const images = offered.flatMap((model) => (model.type === 'image' ? imagesOf(model, settings) : []));
  const videos = offered.flatMap((model) => (model.type === 'video' ? videosOf(model, settings) : []));
  return { image: cheapest(images), video: cheapest(videos) };
};

const cheapest = <T extends { priceThousandths: Thousandths }>(creations: readonly T[]): T | undefined =>
  creations.toSorted((a, b) => a.priceThousandths - b.priceThousandths)[0];

const imagesOf = (model: ImageModel, settings: ReadonlyMap<string, ModelSettings>) => {
  const rate = rateOf(model.id, settings.get(model.id));
  if (!rate || !('perImage' in rate)) return [];
  return model.sizePresets.map((size) => {
    const side = PRESET_SIDE_PIXELS[size];
    return {
      body: { ...shared(model.id), size, aspectRatio: 'square' },
      priceThousandths: imagePrice(rate, side * side),
      expected: { width: side, height: side },
    };
  });
};

const videosOf = (model: VideoModel, settings: ReadonlyMap<string, ModelSettings>) => {
  const rate = rateOf(model.id, settings.get(model.id));
  if (!rate || !('perSecond' in rate) || model.requiresImage) return [];
  const seconds = model.durationSec.min;
  return model.resolutions.map((resolution) => ({
    body: { ...shared(model.id), resolution, durationSec: seconds },
    priceThousandths: videoPrice(rate, resolution) * seconds,
    expected: { seconds, resolution },
  }));
};

const shared = (model: string) => ({ model, prompt: PROMPT, endUserEmail: SMOKE_EMAIL });
