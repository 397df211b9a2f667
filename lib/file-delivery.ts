import { CustomResource, Duration, Stack } from 'aws-cdk-lib';
import {
  AllowedMethods,
  CachePolicy,
  type CfnPublicKey,
  Distribution,
  HttpVersion,
  KeyGroup,
  PublicKey,
  S3OriginAccessControl,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { StackContext } from './context.ts';
import { emptySecret } from './provider-secrets.ts';
import { ServiceFunction } from './service-function.ts';

/** What the file delivery serves, and from where. */
export interface FileDeliveryProps {
  bucket: Bucket;
  bundleOf: (name: string) => string;
  /** `deliveryBaseUrl` replaces the distribution's own domain. */
  context: Pick<StackContext, 'deliveryBaseUrl'>;
}

/**
 * A CloudFront distribution over the private bucket that serves signed URLs only. The key pair is created at
 * deploy time, with the private key in Secrets Manager. Nothing is cached, so a removed file is gone at once.
 */
export class FileDelivery extends Construct {
  private readonly baseUrl: string;
  private readonly keyPairId: string;
  private readonly signingKey: Secret;

  constructor(scope: Construct, id: string, { bucket, bundleOf, context }: FileDeliveryProps) {
    super(scope, id);
    this.signingKey = emptySecret(
      this,
      'SigningKey',
      'Private key (PEM) that signs the URLs of files. Written once, at deploy time.',
    );
    const publicKey = new PublicKey(this, 'PublicKey', {
      publicKeyName: this.globalName('key'),
      encodedKey: this.createKeyPair(bundleOf),
    });
    (publicKey.node.defaultChild as CfnPublicKey).addPropertyOverride(
      'PublicKeyConfig.CallerReference',
      this.globalName('key'),
    );
    this.keyPairId = publicKey.publicKeyId;

    const keyGroup = new KeyGroup(this, 'KeyGroup', {
      keyGroupName: this.globalName('keys'),
      items: [publicKey],
    });
    const originAccessControl = new S3OriginAccessControl(this, 'OriginAccessControl', {
      originAccessControlName: this.globalName('files'),
    });
    const distribution = new Distribution(this, 'Distribution', {
      comment: 'Generated files, by signed URL',
      defaultBehavior: {
        origin: S3BucketOrigin.withOriginAccessControl(bucket, { originAccessControl }),
        allowedMethods: AllowedMethods.ALLOW_GET_HEAD,
        viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
        cachePolicy: CachePolicy.CACHING_DISABLED,
        trustedKeyGroups: [keyGroup],
      },
      httpVersion: HttpVersion.HTTP2_AND_3,
    });
    this.baseUrl = context.deliveryBaseUrl ?? `https://${distribution.distributionDomainName}`;
  }

  /** Lets functions sign URLs of files. */
  bindSigning(functions: readonly ServiceFunction[]): void {
    for (const to of functions) {
      to.addEnvironment({ FILE_DELIVERY_BASE_URL: this.baseUrl, FILE_DELIVERY_KEY_PAIR_ID: this.keyPairId });
      this.bindKey(to, 'secretsmanager:GetSecretValue');
    }
  }

  /** CloudFront's names are those of the account, in no region. At most 64 characters. */
  private globalName(part: string): string {
    const { stackName, region } = Stack.of(this);
    return `${stackName}-${region}-${part}`;
  }

  private bindKey(to: ServiceFunction, ...actions: string[]): void {
    to.addEnvironment({ FILE_DELIVERY_KEY_SECRET_ARN: this.signingKey.secretArn });
    to.allow(actions, [this.signingKey.secretArn]);
  }

  /** The public key of a pair created at deploy time; the function that creates it stores the private key. */
  private createKeyPair(bundleOf: FileDeliveryProps['bundleOf']): string {
    const createSigningKey = new ServiceFunction(this, 'CreateSigningKey', {
      bundle: bundleOf('events/create-signing-key'),
      description: 'Creates the key pair of the signed URLs at deploy time',
      timeout: Duration.seconds(60),
    });
    this.bindKey(createSigningKey, 'secretsmanager:GetSecretValue', 'secretsmanager:PutSecretValue');
    const { lambda } = createSigningKey;
    const keyPair = new CustomResource(this, 'KeyPair', {
      resourceType: 'Custom::DeliveryKeyPair',
      serviceToken: lambda.functionArn,
    });
    keyPair.node.addDependency(lambda.role ?? lambda);
    return keyPair.getAttString('PublicKey');
  }
}
