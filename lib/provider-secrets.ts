import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import { type CfnSecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { ModelRoutes } from '../core/provider-calls/model-routes.ts';
import {
  makerOf,
  namesOfProvider,
  PROVIDERS,
  type ProviderId,
  type ProviderNames,
} from '../core/provider-names.ts';
import type { StackContext } from './context.ts';
import { providerAccountsOf } from './provider-accounts.ts';
import type { SandboxProviders } from './sandbox-providers.ts';
import type { Environment, ServiceFunction } from './service-function.ts';

/** Where the providers are, and which of them serves each model. */
export type ProviderSettings = Pick<
  StackContext,
  | 'modelRoutes'
  | 'maxRunning'
  | 'providerAccounts'
  | ProviderNames['baseUrlContextKey' | 'previousBaseUrlContextKey']
>;

/**
 * The API keys of the accounts at providers, one secret each, and the secret behind the tokens in callback URLs. The
 * API keys start empty; a provider without a key takes no requests. With a sandbox, every provider is called at the
 * sandbox's address with the sandbox's key; the providers' own keys stay stored and unused.
 */
export class ProviderSecrets extends Construct {
  /** Every account at a provider: its name, where it is called, and the secret with its key. */
  readonly accounts: readonly { id: ProviderId; baseUrl: string; apiKey: Secret }[];
  /** Behind the tokens in callback URLs. */
  readonly callbacks: Secret;
  /** The model routes as JSON. */
  readonly modelRoutes: string;
  private readonly environment: Environment;

  constructor(scope: Construct, id: string, settings: ProviderSettings, sandbox?: SandboxProviders) {
    super(scope, id);
    const accounts = providerAccountsOf(settings);
    this.accounts = accounts.map(({ id: account, baseUrl }) => {
      const maker = makerOf(account);
      const name = account.slice(maker.length + 1);
      const { label, product, sandboxPath } = PROVIDERS[maker];
      const about = `API key of ${product}${name && `, account ${name}`}`;
      const own = emptySecret(this, `${label}${name.charAt(0).toUpperCase()}${name.slice(1)}`, about);
      return {
        id: account,
        baseUrl: sandbox ? `${sandbox.url}${sandboxPath}` : baseUrl,
        apiKey: sandbox?.apiKey ?? own,
      };
    });
    this.callbacks = new Secret(this, 'Callbacks', {
      description: 'Secret behind the tokens in callback URLs',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const routes = { ...sandbox?.modelRoutes, ...settings.modelRoutes };
    this.modelRoutes = Stack.of(this).toJsonString(cappedAt(settings.maxRunning, routes));
    const variables = this.accounts.flatMap(({ id: account, baseUrl, apiKey }, index) => {
      const names = namesOfProvider(account);
      const previous = accounts[index]?.previousBaseUrl;
      return [
        [names.baseUrlVariable, baseUrl],
        [names.secretVariable, apiKey.secretArn],
        ...(previous === undefined ? [] : [[names.previousBaseUrlVariable, previous]]),
      ];
    });
    this.environment = { MODEL_ROUTES: this.modelRoutes, ...Object.fromEntries(variables) };
  }

  /** Lets functions call the providers, with their API keys. */
  bindProviders(functions: readonly ServiceFunction[]): void {
    this.bindApiKeys(functions, 'secretsmanager:GetSecretValue');
  }

  /** Lets functions see which providers have an API key, but not the key. */
  bindProviderStatus(functions: readonly ServiceFunction[]): void {
    this.bindApiKeys(functions, 'secretsmanager:DescribeSecret');
  }

  /** Lets functions create and check the tokens in callback URLs. */
  bindCallbacks(functions: readonly ServiceFunction[]): void {
    for (const to of functions) {
      to.addEnvironment({ CALLBACK_SECRET_ARN: this.callbacks.secretArn });
      to.allow(['secretsmanager:GetSecretValue'], [this.callbacks.secretArn]);
    }
  }

  /** Gives functions the model routes, and no key. */
  bindRoutes(functions: readonly ServiceFunction[]): void {
    for (const to of functions) to.addEnvironment({ MODEL_ROUTES: this.modelRoutes });
  }

  private bindApiKeys(functions: readonly ServiceFunction[], action: string): void {
    for (const to of functions) {
      to.addEnvironment(this.environment);
      to.allow([action], [...new Set(this.accounts.map(({ apiKey }) => apiKey.secretArn))]);
    }
  }
}

/** Routes whose `maxRunning` is at most `most`. Without `most`, the routes stay unchanged. */
const cappedAt = (most: number | undefined, routes: ModelRoutes): ModelRoutes => {
  if (most === undefined) return routes;
  const capped = Object.entries(routes).map(([model, list]) => {
    const ofModel = list.map((route) => ({ ...route, maxRunning: Math.min(most, route.maxRunning ?? most) }));
    return [model, ofModel] as const;
  });
  return Object.fromEntries(capped);
};

/** A secret without a value. CDK would generate one. */
export const emptySecret = (scope: Construct, id: string, description: string): Secret => {
  const secret = new Secret(scope, id, { description, removalPolicy: RemovalPolicy.DESTROY });
  (secret.node.defaultChild as CfnSecret).generateSecretString = undefined;
  return secret;
};
