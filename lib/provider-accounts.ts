import { z } from 'zod';
import type { ModelRoutes } from '../core/provider-calls/model-routes.ts';
import {
  ACCOUNT_NAME,
  type Maker,
  namesOfProvider,
  PROVIDER_IDS,
  type ProviderId,
  type ProviderNames,
} from '../core/provider-names.ts';

/** The name of the account that every provider has. */
const DEFAULT = 'default';

/**
 * The accounts at each provider: the name of each, or its name with an address of its own. `default` may be named, and is always there. Names
 * are part of variables and outputs, as are the words that these begin with.
 */
export const providerAccounts = (baseUrl: z.ZodType<string, string>) => {
  const name = z.string().regex(ACCOUNT_NAME, 'Expected at most 20 small letters and digits, a letter first');
  const account = z.union([
    name,
    z.strictObject({ name, baseUrl: baseUrl.optional(), previousBaseUrl: baseUrl.optional() }),
  ]);
  const named = z
    .array(account)
    .transform((list) => list.map((one) => (typeof one === 'string' ? { name: one } : one)))
    .refine((list) => new Set(list.map((one) => one.name)).size === list.length, 'Expected different names')
    .refine(
      (list) => list.every((one) => one.name !== DEFAULT || Object.keys(one).length === 1),
      'The address of the default account has a key of its own',
    );
  return z.partialRecord(z.enum(PROVIDER_IDS), named).optional();
};

/** The accounts of the context, by provider. */
export type ProviderAccounts = NonNullable<z.output<ReturnType<typeof providerAccounts>>>;

/** The context that says where the accounts are. */
type AccountSettings = { providerAccounts?: ProviderAccounts | undefined } & Record<
  ProviderNames['baseUrlContextKey'],
  string
> &
  Partial<Record<ProviderNames['previousBaseUrlContextKey'], string | undefined>>;

/** An account at a provider, and where it is called now and was before. */
export interface AccountAddress {
  id: ProviderId;
  baseUrl: string;
  previousBaseUrl: string | undefined;
}

const othersAt = (maker: Maker, accounts: ProviderAccounts = {}) =>
  (accounts[maker] ?? []).filter(({ name }) => name !== DEFAULT);

/** Every account, the default ones first. One without an address of its own is called where the default account is. */
export const providerAccountsOf = (settings: AccountSettings): AccountAddress[] => {
  const defaults = PROVIDER_IDS.map((id): AccountAddress => {
    const { baseUrlContextKey, previousBaseUrlContextKey } = namesOfProvider(id);
    return { id, baseUrl: settings[baseUrlContextKey], previousBaseUrl: settings[previousBaseUrlContextKey] };
  });
  const others = defaults.flatMap(({ id: maker, baseUrl, previousBaseUrl }) =>
    othersAt(maker as Maker, settings.providerAccounts).map(
      ({ name, ...own }): AccountAddress => ({
        id: `${maker as Maker}@${name}`,
        baseUrl: own.baseUrl ?? baseUrl,
        previousBaseUrl: own.previousBaseUrl ?? (own.baseUrl === undefined ? previousBaseUrl : undefined),
      }),
    ),
  );
  return [...defaults, ...others];
};

/** Routes that lead to accounts that are not declared. */
export const unknownAccountsIn = (routes: ModelRoutes, accounts?: ProviderAccounts): string[] => {
  const declared = new Set<string>([
    ...PROVIDER_IDS,
    ...PROVIDER_IDS.flatMap((maker) => othersAt(maker, accounts).map(({ name }) => `${maker}@${name}`)),
  ]);
  const named = new Set(Object.values(routes).flatMap((list) => list.map(({ provider }) => provider)));
  return [...named]
    .filter((provider) => !declared.has(provider))
    .map((provider) => `providerAccounts has no ${provider}`);
};
