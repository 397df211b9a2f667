import { Duration, Fn, RemovalPolicy, SecretValue } from 'aws-cdk-lib';
import { FunctionUrlAuthType } from 'aws-cdk-lib/aws-lambda';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { ModelRoutes } from '../core/provider-calls/model-routes.ts';
import type { StackContext } from './context.ts';
import { ServiceFunction } from './service-function.ts';

/** Protects nothing: who has the sandbox's address gets made-up pictures. */
const API_KEY = 'sandbox-key';

/** A model that only the sandbox has; no provider is confirmed to offer it. */
const ROUTES: ModelRoutes = { 'xW3.0sPro': [{ provider: 'modelark', upstreamModel: 'sandbox-xw3-pro' }] };

/** Stand-ins for the providers, for stacks without keys: one function behind a public URL, which keeps nothing. */
export class SandboxProviders extends Construct {
  /** Without a slash at the end. */
  readonly url: string;
  /** Holds the key that the stand-ins take. */
  readonly apiKey: Secret;
  /** Routes of the models that only the sandbox has. */
  readonly modelRoutes = ROUTES;

  constructor(
    scope: Construct,
    id: string,
    bundleOf: (name: string) => string,
    { sandboxMaxRunning }: Pick<StackContext, 'sandboxMaxRunning'>,
  ) {
    super(scope, id);
    const { lambda } = new ServiceFunction(this, 'AnswerAsProviders', {
      bundle: bundleOf('sandbox/answer-as-providers'),
      description: 'Stands in for the providers: made-up images and videos, at no cost',
      // A video of 30 s in 4k takes half a minute; `[delay]` holds synchronous calls.
      timeout: Duration.minutes(5),
      memorySize: 2048,
    });
    lambda.addEnvironment('SANDBOX_API_KEY', API_KEY);
    if (sandboxMaxRunning !== undefined) {
      lambda.addEnvironment('SANDBOX_MAX_RUNNING', String(sandboxMaxRunning));
    }
    // The service fetches files by their URLs alone, as it does from the providers.
    const { url } = lambda.addFunctionUrl({ authType: FunctionUrlAuthType.NONE });
    // `https://<host>/`, without its last slash.
    const parts = Fn.split('/', url);
    this.url = Fn.join('//', [Fn.select(0, parts), Fn.select(2, parts)]);
    this.apiKey = new Secret(this, 'ApiKey', {
      description: "The key that the sandbox takes in place of the providers' own",
      secretStringValue: SecretValue.unsafePlainText(API_KEY),
      removalPolicy: RemovalPolicy.DESTROY,
    });
  }
}
