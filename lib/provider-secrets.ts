import { RemovalPolicy } from 'aws-cdk-lib';
import { type CfnSecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';

/**
 * One secret for each upstream's API key, which start empty: a provider without a key takes no requests. And
 * one that the callback URLs given to them are made with.
 */
export class ProviderSecrets extends Construct {
  readonly modelArk: Secret;
  readonly modelStudio: Secret;
  readonly callbacks: Secret;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.modelArk = emptySecret(this, 'ModelArk', 'API key of BytePlus ModelArk');
    this.modelStudio = emptySecret(this, 'ModelStudio', 'API key of Alibaba Cloud Model Studio');
    this.callbacks = new Secret(this, 'Callbacks', {
      description: 'What the tokens in the callback URLs of providers are made with',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy: RemovalPolicy.DESTROY,
    });
  }

  /** The secrets of the upstreams. */
  get ofProviders(): readonly Secret[] {
    return [this.modelArk, this.modelStudio];
  }
}

/** A secret that holds nothing until somebody puts a value there: what CDK would generate is of no use. */
export const emptySecret = (scope: Construct, id: string, description: string): Secret => {
  const secret = new Secret(scope, id, { description, removalPolicy: RemovalPolicy.DESTROY });
  (secret.node.defaultChild as CfnSecret).generateSecretString = undefined;
  return secret;
};
