import type { AwsEndpoint } from '../../packages/local-aws/src/aws/endpoint.ts';
import { REGION } from '../../packages/local-aws/src/template/attributes.ts';
import type { Stack } from '../../packages/local-aws/src/template.ts';
import type { SecretSpec } from '../../packages/local-aws/src/types.ts';

/** A provider that is the sandbox unless its real key is in the environment. */
interface Provider {
  /** The environment variable that holds the real key. */
  keyVariable: string;
  /** The stack output that holds the name of the secret. */
  secretOutput: string;
  baseUrlContextKey: string;
  sandboxPath: string;
}

const PROVIDERS: Provider[] = [
  {
    keyVariable: 'MODELARK_API_KEY',
    secretOutput: 'ModelArkSecretName',
    baseUrlContextKey: 'modelArkBaseUrl',
    sandboxPath: '/api/v3',
  },
  {
    keyVariable: 'MODELSTUDIO_API_KEY',
    secretOutput: 'ModelStudioSecretName',
    baseUrlContextKey: 'modelStudioBaseUrl',
    sandboxPath: '',
  },
];

/** The key that the sandbox providers take. */
export const SANDBOX_KEY = 'sandbox-key';

type Environment = Record<string, string | undefined>;

/** Whether a provider has no real key, so that the sandbox stands in for it. */
export const needsSandbox = (environment: Environment): boolean =>
  PROVIDERS.some(({ keyVariable }) => !environment[keyVariable]);

/** Models that only the sandbox has: no real upstream is confirmed for them. */
const SANDBOX_ROUTES = { 'xW3.0sPro': { provider: 'modelark', upstreamModel: 'sandbox-xw3-pro' } };

/**
 * The context that sends each provider without a real key to the sandbox, and the models that only the sandbox
 * has too. `modelRoutes` are those of the project.
 */
export const providerContext = (
  environment: Environment,
  sandboxUrl: string | null,
  modelRoutes: object,
): Record<string, unknown> => {
  const inSandbox = PROVIDERS.filter(({ keyVariable }) => sandboxUrl !== null && !environment[keyVariable]);
  const baseUrls = inSandbox.map(
    ({ baseUrlContextKey, sandboxPath }) => [baseUrlContextKey, `${sandboxUrl}${sandboxPath}`] as const,
  );
  const hasArk = inSandbox.some(({ keyVariable }) => keyVariable === 'MODELARK_API_KEY');
  return {
    ...Object.fromEntries(baseUrls),
    ...(hasArk ? { modelRoutes: { ...SANDBOX_ROUTES, ...modelRoutes } } : {}),
  };
};

/** The keys by the name of the secret that holds each. */
const providerKeys = (stack: Stack, environment: Environment): Map<string, string> =>
  new Map(
    PROVIDERS.flatMap(({ keyVariable, secretOutput }) => {
      const name = stack.output(secretOutput);
      return name === undefined ? [] : [[name, environment[keyVariable] || SANDBOX_KEY] as const];
    }),
  );

/** The stack's secrets, those of the providers with the keys to use. */
export const secretsWithProviderKeys = (stack: Stack, environment: Environment): SecretSpec[] => {
  const keys = providerKeys(stack, environment);
  return stack.secrets.map((secret) => {
    const key = keys.get(secret.name);
    return key === undefined ? secret : { ...secret, initialValue: key };
  });
};

/** Puts the keys of this run where an earlier run kept others. */
export const replaceProviderKeys = async (
  stack: Stack,
  environment: Environment,
  endpoint: AwsEndpoint,
  operator: { accessKeyId: string; secretAccessKey: string },
): Promise<void> => {
  const outdated = [...providerKeys(stack, environment)].filter(
    ([name, key]) => endpoint.readSecret(name) !== key,
  );
  if (outdated.length === 0) return;
  const { PutSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
  const client = new SecretsManagerClient({
    endpoint: endpoint.url,
    region: REGION,
    credentials: operator,
  });
  for (const [SecretId, SecretString] of outdated) {
    await client.send(new PutSecretValueCommand({ SecretId, SecretString }));
  }
  client.destroy();
};
