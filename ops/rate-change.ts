import type { CatalogModel } from '../core/models/catalog.ts';
import type { Rate } from '../core/models/rate-schemas.ts';

/** A price of a rate before and after a change, in xTokens. */
export interface PriceChange {
  /** An image size or a resolution, in words. */
  of: string;
  before: number;
  after: number;
}

/** A new price above this many times the former one is set only with `--yes`: a decimal point in the wrong place is ten times. */
const STEEPEST_FACTOR = 2;

/**
 * The prices of two rates of a model, for every size or resolution that either names, in the order of the new rate. Empty without a former
 * rate, and for rates of two kinds.
 */
export const priceChanges = (before: Rate | undefined, after: Rate): PriceChange[] => {
  if (!before) return [];
  if ('perSecond' in after) {
    if (!('perSecond' in before)) return [];
    return Object.entries(after.perSecond).flatMap(([resolution, price]) => {
      const former = before.perSecond[resolution];
      return former === undefined ? [] : [{ of: resolution, before: former, after: price }];
    });
  }
  if (!('perImage' in before)) return [];
  const bounds = [...before.perImage, ...after.perImage].map(({ maxPixels }) => maxPixels ?? Infinity);
  return [...new Set(bounds)]
    .sort((one, other) => one - other)
    .flatMap((bound) => {
      const [former, price] = [tierPrice(before.perImage, bound), tierPrice(after.perImage, bound)];
      const of = bound === Infinity ? 'any size' : `up to ${bound.toLocaleString('en')} pixels`;
      return former === undefined || price === undefined ? [] : [{ of, before: former, after: price }];
    });
};

const tierPrice = (
  tiers: readonly { maxPixels: number | null; xTokens: number }[],
  pixels: number,
): number | undefined => tiers.find(({ maxPixels }) => pixels <= (maxPixels ?? Infinity))?.xTokens;

/** The factor of a change of price, rounded to three digits. */
export const factorOf = ({ before, after }: PriceChange): number => Number((after / before).toPrecision(3));

/** A sentence on the steepest of these changes where a price becomes more than twice the former; undefined where none does. */
export const steepChange = (model: CatalogModel, changes: readonly PriceChange[]): string | undefined => {
  const steepest = changes.reduce<PriceChange | undefined>(
    (most, change) => (most && most.after / most.before >= change.after / change.before ? most : change),
    undefined,
  );
  if (!steepest || steepest.after <= steepest.before * STEEPEST_FACTOR) return undefined;
  const { of, before, after } = steepest;
  return `${model.id} would cost ${after} instead of ${before} xTokens (${of}), ${factorOf(steepest)} times as much.`;
};
