import { parseImageRequest } from '../../core/creation/create-image-rules.ts';
import { parseVideoRequest } from '../../core/creation/create-video-rules.ts';
import { pricedPixels } from '../../core/models/image-sizes.ts';
import type { Model, Quote } from '../../packages/client/src/types.ts';
import { xTokensText } from '../parts/texts.ts';

/** The price of a model's outputs, in xTokens: per image by its pixels, or per second by resolution. */
export interface Rate {
  perImage?: readonly { maxPixels: number | null; xTokens: number }[];
  perSecond?: Readonly<Record<string, number>>;
}

/** What a request will cost, in xTokens. `isLeast`: reference videos add their seconds, which only the service measures. */
export interface Cost {
  xTokens: number;
  isLeast: boolean;
}

/** A sum of prices, which have at most three decimals. */
const times = (price: number, count: number): number => (Math.round(price * 1_000) * count) / 1_000;

/** The cost of a creation. Undefined while its body is not right, and where the rate is not known. */
export const costOf = (
  model: Model,
  body: Record<string, unknown>,
  allowPrivate: boolean,
  rate: Rate | undefined,
): Cost | undefined => {
  if (!rate) return undefined;
  if (model.type === 'image') {
    const parsed = parseImageRequest(body, allowPrivate);
    if (!parsed.ok) return undefined;
    const pixels = pricedPixels(parsed.creation.size);
    const tier = rate.perImage?.find(({ maxPixels }) => maxPixels === null || pixels <= maxPixels);
    return tier && { xTokens: times(tier.xTokens, parsed.creation.images), isLeast: false };
  }
  const parsed = parseVideoRequest(body, allowPrivate);
  if (!parsed.ok) return undefined;
  const { resolution, durationSec, referenceVideos } = parsed.creation;
  const price = rate.perSecond?.[resolution];
  return price === undefined
    ? undefined
    : { xTokens: times(price, durationSec), isLeast: referenceVideos.length > 0 };
};

/** A cost in words. */
export const costText = ({ xTokens, isLeast }: Cost): string =>
  `${isLeast ? 'at least ' : ''}${xTokensText(xTokens)} xTokens`;

/** The service's own answer in words. Of several budgets that do not suffice it names the first. */
export const quoteText = ({ xTokens, balance, covered, budgets }: Quote): string => {
  const costs = `Costs ${xTokensText(xTokens)} xTokens`;
  if (covered) return `${costs}, and is covered.`;
  if (xTokens > balance) return `${costs}: the balance is ${xTokensText(balance)}.`;
  const short = budgets.find(({ limit, spent }) => spent + xTokens > limit);
  if (!short) return `${costs}, and is not covered.`;
  const whose = short.of === 'endUser' ? 'end-user' : 'API key';
  return `${costs}: of the ${whose}'s ${xTokensText(short.limit)} a ${short.per}, ${xTokensText(short.spent)} are spent.`;
};

const MEGA = 1_000_000;
const megapixels = (pixels: number): string =>
  `${(pixels / MEGA).toLocaleString('en', { maximumFractionDigits: 1 })} MP`;

/** How a model is billed, with its prices where they are known. */
export const billingText = ({ type }: Pick<Model, 'type'>, rate: Rate | undefined): string => {
  const unit = type === 'image' ? 'Billed per image' : 'Billed per second';
  const tiers = rate?.perImage?.map(({ maxPixels, xTokens }, index, all) => {
    if (maxPixels !== null) return `${xTokensText(xTokens)} xTokens up to ${megapixels(maxPixels)}`;
    return all.length === 1
      ? `${xTokensText(xTokens)} xTokens`
      : `${xTokensText(xTokens)} xTokens above ${megapixels(all[index - 1]?.maxPixels ?? 0)}`;
  });
  const seconds = Object.entries(rate?.perSecond ?? {}).map(
    ([resolution, xTokens]) => `${xTokensText(xTokens)} xTokens at ${resolution}`,
  );
  const prices = (type === 'image' ? tiers : seconds) ?? [];
  return prices.length === 0 ? `${unit}.` : `${unit}: ${prices.join(', ')}.`;
};
