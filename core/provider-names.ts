import type { RequestKind } from './ids.ts';

/** Facts of a provider that its adapter, the stack and the tools of operators share. */
interface ProviderFacts {
  /**
   * The provider's name in the stack: `ModelArk` gives the context key `modelArkBaseUrl` and the output
   * `ModelArkSecretName`.`ModelArk` gives the context key `modelArkBaseUrl` and the output `ModelArkSecretName`.
   */
  label: string;
  /** The name of the provider's product. */
  product: string;
  /** The kinds of request that it calls back about. */
  callsBackFor: readonly RequestKind[];
  /** The type of its images; undefined if its models differ. */
  imageFormat: 'jpeg' | 'png' | undefined;
  /** Where the sandbox stands in for it: appended to the sandbox's URL. */
  sandboxPath: string;
  /** The variable of a shell that holds its own key. */
  keyVariable: string;
  /** The rate at which the control loop queries the tasks of an account, unless a route is configured otherwise. */
  queries: { atOnce: number; perSecond: number };
}

/** The default query rate, for a provider that documents no limit. */
const FEW_QUERIES = { atOnce: 4, perSecond: 10 };

/** Every provider, by its name in callback URLs; the names of its accounts begin with that. */
export const PROVIDERS = {
  modelark: {
    label: 'ModelArk',
    product: 'BytePlus ModelArk',
    callsBackFor: ['video'],
    imageFormat: 'jpeg',
    sandboxPath: '/api/v3',
    keyVariable: 'MODELARK_API_KEY',
    queries: FEW_QUERIES,
  },
  modelstudio: {
    label: 'ModelStudio',
    product: 'Alibaba Cloud Model Studio',
    callsBackFor: [],
    imageFormat: 'png',
    sandboxPath: '',
    keyVariable: 'MODELSTUDIO_API_KEY',
    // It takes 20 calls about tasks a second from an account: reads of the API query, too.
    queries: { atOnce: 16, perSecond: 18 },
  },
  fal: {
    label: 'Fal',
    product: 'fal.ai',
    callsBackFor: ['image', 'video'],
    imageFormat: undefined,
    sandboxPath: '/fal',
    keyVariable: 'FAL_KEY',
    queries: FEW_QUERIES,
  },
} as const satisfies Record<string, ProviderFacts>;

/** The maker of an API that an adapter speaks. */
export type Maker = keyof typeof PROVIDERS;
type Label = (typeof PROVIDERS)[Maker]['label'];

/**
 * An account at a provider, as in model routes, stored calls, metrics and alarms: the maker's name for the default account,
 * `modelstudio@eu` for another one. Each account has its own key, address and limits, and its own pace in the control loop.
 */
export type ProviderId = Maker | `${Maker}@${string}`;

/** The default account of every provider. */
export const PROVIDER_IDS = Object.keys(PROVIDERS) as [Maker, ...Maker[]];

/** The name of an account other than the default one. It is part of variables, outputs and logical ids. */
export const ACCOUNT_NAME = /^[a-z][a-z0-9]{0,19}$/;

const parseProviderId = (id: string): { maker: string; account: string | undefined } => {
  const [maker = '', ...account] = id.split('@');
  return { maker, account: account.length === 0 ? undefined : account.join('@') };
};

/** The maker of an account's provider. */
export const makerOf = (id: ProviderId): Maker => parseProviderId(id).maker as Maker;

/** Whether text names an account at a provider of this version. */
export const isProviderId = (text: string): text is ProviderId => {
  const { maker, account } = parseProviderId(text);
  return Object.hasOwn(PROVIDERS, maker) && (account === undefined || ACCOUNT_NAME.test(account));
};

/**
 * The names that belong to a provider account, built from the provider's id and label and the account's name. The first three are
 * environment variables of the functions: base URL, previous base URL, and ARN of the API key's secret. The context keys are
 * those of the default account.
 */
export const namesOfProvider = (id: ProviderId) => {
  const { maker, account = '' } = parseProviderId(id) as { maker: Maker; account?: string };
  const { label, keyVariable } = PROVIDERS[maker];
  const upper = maker.toUpperCase() as Uppercase<Maker>;
  const lower = `${label.charAt(0).toLowerCase()}${label.slice(1)}` as Uncapitalize<Label>;
  // Typed as the names of the default account: names of other accounts are only known at deployment.
  const ending = (account === '' ? '' : `_${account.toUpperCase()}`) as '';
  const ownPart = `${account.charAt(0).toUpperCase()}${account.slice(1)}`;
  return {
    baseUrlVariable: `${upper}_BASE_URL${ending}`,
    previousBaseUrlVariable: `${upper}_PREVIOUS_BASE_URL${ending}`,
    secretVariable: `${upper}_SECRET_ARN${ending}`,
    keyVariable: `${keyVariable}${ending}`,
    baseUrlContextKey: `${lower}BaseUrl`,
    previousBaseUrlContextKey: `${lower}PreviousBaseUrl`,
    baseUrlOutput: `${label}BaseUrl${ownPart}`,
    secretOutput: `${label}SecretName${ownPart}`,
  } as const;
};
export type ProviderNames = ReturnType<typeof namesOfProvider>;

/** Whether a provider calls back about requests of a kind. False for one that this version does not know. */
export const callsBackFor = (provider: string, kind: RequestKind): boolean =>
  Object.entries(PROVIDERS).some(
    ([maker, facts]) =>
      maker === parseProviderId(provider).maker &&
      (facts.callsBackFor as readonly RequestKind[]).includes(kind),
  );

/** The name of a route: `modelstudio@eu/wan2.7-t2v`. Models that lead to the same upstream model share its limits. */
export const routeNameOf = ({
  provider,
  upstreamModel,
}: {
  provider: string;
  upstreamModel: string;
}): string => `${provider}/${upstreamModel}`;
