import { routeText } from '../routes.ts';
import catalog from './catalog.json' with { type: 'json' };
import type { CatalogModel, ImageModel, VideoModel } from './model-answers.ts';
import type { ModelData } from './model-data.ts';
import type { Rate } from './rate-schemas.ts';
import { ASPECT_RATIOS } from './size-presets.ts';

export type { CatalogModel, ImageModel, VideoModel } from './model-answers.ts';

/** The catalog's entry of a model, with what follows from its type. */
export const catalogModelOf = ({ rate: _, ...model }: ModelData): CatalogModel => {
  if (model.type === 'image') {
    const { id, type, sizePresets, defaultSize, explicitSize, ...limits } = model;
    const made = { endpoint: routeText('create-generation'), billing: 'per_image' } as const;
    const sizes = { sizePresets, defaultSize, explicitSize, aspectRatios: ASPECT_RATIOS };
    return { id, type, ...made, ...sizes, ...limits } as ImageModel;
  }
  const { id, type, ...limits } = model;
  return { id, type, endpoint: routeText('create-video'), billing: 'per_second', ...limits } as VideoModel;
};

const data = catalog as unknown as readonly ModelData[];

/**
 * Every model of the service, in the order `GET /v1/models` lists them: those of `catalog.json`. Their limits are the public contract's. The
 * data file in a bundle ends with the operator's own models.
 */
export const CATALOG: readonly CatalogModel[] = data.map(catalogModelOf);

/**
 * The price of each model until the operator sets a rate. The figures are a starting point in proportion to the providers' price lists;
 * they reproduce no provider's price.
 */
export const DEFAULT_RATES: Readonly<Record<string, Rate>> = Object.assign(
  Object.create(null),
  Object.fromEntries(data.map(({ id, rate }) => [id, rate])),
);

/**
 * Lists the operator's own models after those of the data file, in place of any listed before. For programs that run from the
 * sources, which learn a stack's models on connecting to the stack.
 */
export const setOwnModels = (own: readonly ModelData[]): void => {
  const listed = CATALOG as CatalogModel[];
  const rates = DEFAULT_RATES as Record<string, Rate>;
  for (const { id } of listed.splice(data.length)) delete rates[id];
  listed.push(...own.map(catalogModelOf));
  for (const { id, rate } of own) rates[id] = rate;
};

/** The model with this id, image or video. */
export const findModel = (id: string): CatalogModel | undefined => CATALOG.find((model) => model.id === id);

/** The image model with this id; undefined for a video model too. */
export const findImageModel = (id: string): ImageModel | undefined => {
  const model = findModel(id);
  return model?.type === 'image' ? model : undefined;
};

/** The video model with this id; undefined for an image model too. */
export const findVideoModel = (id: string): VideoModel | undefined => {
  const model = findModel(id);
  return model?.type === 'video' ? model : undefined;
};
