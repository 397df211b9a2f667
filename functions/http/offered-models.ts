import type { Account } from '../../core/accounts/accounts.ts';
import { CATALOG, type CatalogModel } from '../../core/models/catalog.ts';
import { currentModelSettings } from '../../core/models/model-settings.ts';
import type { Rate } from '../../core/models/rate-schemas.ts';
import { accountRateOf } from '../../core/models/rates.ts';
import type { Retirement } from '../../core/models/retirement.ts';
import { listCredentials } from '../../core/provider-calls/credentials.ts';
import { offerProblem } from '../../core/provider-calls/offer-problem.ts';

/** The models that can be dispatched now, in the catalog's order, with the account's rate and an announced end. */
export const listOffered = async (
  account: Account,
  now: Date,
): Promise<{ model: CatalogModel; rate: Rate; retirement: Retirement | undefined }[]> => {
  const [settings, credentials] = await Promise.all([currentModelSettings(now), listCredentials(now)]);
  return CATALOG.flatMap((model) => {
    const own = settings.get(model.id);
    const rate = accountRateOf(model.id, own, account);
    return !rate || offerProblem(model, settings, credentials, now)
      ? []
      : [{ model, rate, retirement: own?.retirement }];
  });
};
