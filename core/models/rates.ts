import type { Account } from '../accounts/accounts.ts';
import { MAX_THOUSANDTHS, type Thousandths, toThousandths, toXTokens } from '../money.ts';
import { DEFAULT_RATES } from './catalog.ts';
import type { ModelSettings } from './model-settings.ts';
import { AccountRate, type ImageRate, type Rate, type VideoRate } from './rate-schemas.ts';

/** The rate in force for a model: the operator's, else the default; undefined when neither exists. */
export const rateOf = (
  modelId: string,
  settings: { rate?: Rate | undefined } | undefined,
): Rate | undefined => settings?.rate ?? DEFAULT_RATES[modelId];

/** The price of one image of this many pixels. Throws `Error` when no tier covers it. */
export const imagePrice = (rate: ImageRate, pixels: number): Thousandths => {
  const tier = rate.perImage.find(({ maxPixels }) => maxPixels === null || pixels <= maxPixels);
  if (!tier) throw new Error(`The rate has no tier for ${pixels} pixels.`);
  return toThousandths(tier.xTokens);
};

/** The price of one second of video at a resolution. Throws `Error` when the rate lacks it. */
export const videoPrice = (rate: VideoRate, resolution: string): Thousandths => {
  const xTokens = rate.perSecond[resolution];
  if (xTokens === undefined) throw new Error(`The rate has no price for ${resolution}.`);
  return toThousandths(xTokens);
};

/** An account's own price of a model. Undefined: it pays the general rate. `unreadable`: the price is of another version. */
export const ownRateOf = (
  { rates = {} }: Pick<Account, 'rates'>,
  modelId: string,
): AccountRate | 'unreadable' | undefined => {
  if (!Object.hasOwn(rates, modelId)) return undefined;
  const own = AccountRate.safeParse(rates[modelId]);
  return own.success ? own.data : 'unreadable';
};

/**
 * The rate in force for a model and an account. Undefined where there is none, and where the account's own cannot be read: the general
 * rate would be a guess.
 */
export const accountRateOf = (
  modelId: string,
  settings: Pick<ModelSettings, 'rate'> | undefined,
  account: Pick<Account, 'rates'>,
): Rate | undefined => {
  const own = ownRateOf(account, modelId);
  if (own === 'unreadable') return undefined;
  if (own && !('factorThousandths' in own)) return own;
  const general = rateOf(modelId, settings);
  return own && general ? scaled(general, own.factorThousandths) : general;
};

/** Each price of a rate times a factor, rounded half up to thousandths: at least 0.001, so that every request has a debit. */
const scaled = (rate: Rate, factorThousandths: number): Rate => {
  const price = (xTokens: number): number => {
    const thousandths = (BigInt(toThousandths(xTokens)) * BigInt(factorThousandths) + 500n) / 1000n;
    return toXTokens(Math.min(MAX_THOUSANDTHS, Math.max(1, Number(thousandths))));
  };
  if ('perImage' in rate) {
    return { perImage: rate.perImage.map((tier) => ({ ...tier, xTokens: price(tier.xTokens) })) };
  }
  const prices = Object.entries(rate.perSecond).map(([resolution, xTokens]) => [resolution, price(xTokens)]);
  return { perSecond: Object.fromEntries(prices) };
};
