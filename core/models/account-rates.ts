import type { Account } from '../accounts/accounts.ts';
import { MAX_THOUSANDTHS, toThousandths, toXTokens } from '../money.ts';
import type { ModelSettings } from './model-settings.ts';
import { AccountRate, type Rate } from './rate-schemas.ts';
import { rateOf } from './rates.ts';

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
