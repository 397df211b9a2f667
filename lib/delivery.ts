import { CustomResource, Duration } from 'aws-cdk-lib';
import {
  AllowedMethods,
  CachePolicy,
  Distribution,
  HttpVersion,
  KeyGroup,
  PublicKey,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { emptySecret } from './provider-secrets.ts';
import { ServiceFunction } from './service-function.ts';

export interface DeliveryProps {
  bucket: Bucket;
  bundleOf: (name: string) => string;
  /** Where callers reach the files instead of the distribution's own domain. */
  baseUrl: string | undefined;
}

/**
 * How callers get the files: a CloudFront distribution over the private bucket that answers signed URLs
 * only. The key pair is made at deploy time; its private half never leaves Secrets Manager. Nothing is
 * cached, so that a removed file is gone at once.
 */
export class Delivery extends Construct {
  readonly baseUrl: string;
  readonly keyPairId: string;
  readonly signingKey: Secret;

  constructor(scope: Construct, id: string, { bucket, bundleOf, baseUrl }: DeliveryProps) {
    super(scope, id);
    this.signingKey = emptySecret(
      this,
      'SigningKey',
      'Private key (PEM) that signs the delivery URLs. Written once, at deploy time.',
    );
    const publicKey = new PublicKey(this, 'PublicKey', { encodedKey: this.createKeyPair(bundleOf) });
    this.keyPairId = publicKey.publicKeyId;

    const distribution = new Distribution(this, 'Distribution', {
      comment: 'Generated files, by signed URL',
      defaultBehavior: {
        origin: S3BucketOrigin.withOriginAccessControl(bucket),
        allowedMethods: AllowedMethods.ALLOW_GET_HEAD,
        viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
        cachePolicy: CachePolicy.CACHING_DISABLED,
        trustedKeyGroups: [new KeyGroup(this, 'KeyGroup', { items: [publicKey] })],
      },
      httpVersion: HttpVersion.HTTP2_AND_3,
    });
    this.baseUrl = baseUrl ?? `https://${distribution.distributionDomainName}`;
  }

  /** The public half of a key pair made at deploy time, by the function that keeps the private half. */
  private createKeyPair(bundleOf: DeliveryProps['bundleOf']): string {
    const createSigningKey = new ServiceFunction(this, 'CreateSigningKey', {
      bundle: bundleOf('events/create-signing-key'),
      description: 'Makes the key pair of the delivery URLs at deploy time',
      timeout: Duration.seconds(60),
      environment: { FILE_DELIVERY_KEY_SECRET_ARN: this.signingKey.secretArn },
    }).lambda;
    createSigningKey.addToRolePolicy(
      new PolicyStatement({
        actions: ['secretsmanager:GetSecretValue', 'secretsmanager:PutSecretValue'],
        resources: [this.signingKey.secretArn],
      }),
    );
    const keyPair = new CustomResource(this, 'KeyPair', {
      resourceType: 'Custom::DeliveryKeyPair',
      serviceToken: createSigningKey.functionArn,
    });
    keyPair.node.addDependency(createSigningKey.role ?? createSigningKey);
    return keyPair.getAttString('PublicKey');
  }
}
