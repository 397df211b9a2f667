import type { RequestKind } from './ids.ts';

/** Facts of a provider that its adapter, the stack and the tools of operators share. */
interface ProviderFacts {
  /** Its name in the stack: `ModelArk` gives the context key `modelArkBaseUrl` and the output `ModelArkSecretName`. */
  label: string;
  /** Its product's name. */
  product: string;
  /** The kinds of request that it calls back about. */
  callsBackFor: readonly RequestKind[];
  /** The type of its images; undefined if its models differ. */
  imageFormat: 'jpeg' | 'png' | undefined;
  /** Where the sandbox stands in for it: appended to the sandbox's URL. */
  sandboxPath: string;
  /** The variable of a shell that holds its own key. */
  keyVariable: string;
}

/** Every provider, by the id used in model routes, callback URLs, metrics and alarms. */
export const PROVIDERS = {
  modelark: {
    label: 'ModelArk',
    product: 'BytePlus ModelArk',
    callsBackFor: ['video'],
    imageFormat: 'jpeg',
    sandboxPath: '/api/v3',
    keyVariable: 'MODELARK_API_KEY',
  },
  modelstudio: {
    label: 'ModelStudio',
    product: 'Alibaba Cloud Model Studio',
    callsBackFor: [],
    imageFormat: 'png',
    sandboxPath: '',
    keyVariable: 'MODELSTUDIO_API_KEY',
  },
  fal: {
    label: 'Fal',
    product: 'fal.ai',
    callsBackFor: ['image', 'video'],
    imageFormat: undefined,
    sandboxPath: '/fal',
    keyVariable: 'FAL_KEY',
  },
} as const satisfies Record<string, ProviderFacts>;

export type ProviderId = keyof typeof PROVIDERS;
type Label = (typeof PROVIDERS)[ProviderId]['label'];

export const PROVIDER_IDS = Object.keys(PROVIDERS) as [ProviderId, ...ProviderId[]];

/**
 * The names that belong to a provider, all made from its id and label. The first three are variables of the functions: its base URL, the
 * one it had before, and the ARN of its API key's secret.
 */
export const namesOfProvider = (id: ProviderId) => {
  const { label, keyVariable } = PROVIDERS[id];
  const upper = id.toUpperCase() as Uppercase<ProviderId>;
  const lower = `${label.charAt(0).toLowerCase()}${label.slice(1)}` as Uncapitalize<Label>;
  return {
    baseUrlVariable: `${upper}_BASE_URL`,
    previousBaseUrlVariable: `${upper}_PREVIOUS_BASE_URL`,
    secretVariable: `${upper}_SECRET_ARN`,
    keyVariable,
    baseUrlContextKey: `${lower}BaseUrl`,
    previousBaseUrlContextKey: `${lower}PreviousBaseUrl`,
    baseUrlOutput: `${label}BaseUrl`,
    secretOutput: `${label}SecretName`,
  } as const;
};
export type ProviderNames = ReturnType<typeof namesOfProvider>;

/** Whether a provider calls back about requests of a kind. False for one that this version does not know. */
export const callsBackFor = (provider: string, kind: RequestKind): boolean =>
  Object.entries(PROVIDERS).some(
    ([id, facts]) => id === provider && (facts.callsBackFor as readonly RequestKind[]).includes(kind),
  );

/** The name of a route. Models that lead to the same upstream model share its limits. */
export const routeNameOf = ({
  provider,
  upstreamModel,
}: {
  provider: string;
  upstreamModel: string;
}): string => `${provider}/${upstreamModel}`;
