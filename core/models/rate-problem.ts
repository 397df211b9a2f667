import { amountProblem, isAmount, MAX_THOUSANDTHS, toThousandths, toXTokens } from '../money.ts';
import type { CatalogModel } from './catalog.ts';
import type { ImageRate, Rate } from './rate-schemas.ts';

/**
 * Why a rate does not fit a model, or undefined when it does. Prices are above 0, so that every request has a
 * debit, have at most 3 decimals, and do not exceed `MAX_THOUSANDTHS`.
 */
export const rateProblem = (model: CatalogModel, rate: Rate): string | undefined => {
  if (model.type === 'image') {
    if (!('perImage' in rate)) return `${model.id} is billed per image: give perImage.`;
    return imageRateProblem(rate);
  }
  if (!('perSecond' in rate)) return `${model.id} is billed per second: give perSecond.`;
  const missing = model.resolutions.filter((resolution) => !(resolution in rate.perSecond));
  const unknown = Object.keys(rate.perSecond).filter((resolution) => !model.resolutions.includes(resolution));
  if (missing.length > 0) return `perSecond lacks ${missing.join(', ')}.`;
  if (unknown.length > 0) return `perSecond names unknown resolutions: ${unknown.join(', ')}.`;
  return priceProblem(Object.values(rate.perSecond));
};

const imageRateProblem = ({ perImage }: ImageRate): string | undefined => {
  const bounds = perImage.map(({ maxPixels }) => maxPixels);
  if (bounds.at(-1) !== null) return 'The last tier of perImage needs maxPixels null.';
  const ascending = bounds
    .slice(0, -1)
    .every((bound, index) => bound !== null && Number.isInteger(bound) && bound > (bounds[index - 1] ?? 0));
  if (!ascending) return 'The tiers of perImage need whole, ascending maxPixels.';
  return priceProblem(perImage.map(({ xTokens }) => xTokens));
};

const priceProblem = (prices: readonly number[]): string | undefined => {
  for (const price of prices) {
    if (price <= 0) return `${price} is no price: it must be more than 0.`;
    if (!isAmount(price)) return amountProblem(price);
    if (toThousandths(price) > MAX_THOUSANDTHS) return `A price is at most ${toXTokens(MAX_THOUSANDTHS)}.`;
  }
  return undefined;
};
