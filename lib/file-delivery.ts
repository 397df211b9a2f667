import { CustomResource, Duration, Stack } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  AllowedMethods,
  CachePolicy,
  type CfnPublicKey,
  Distribution,
  type DistributionProps,
  HttpVersion,
  KeyGroup,
  PublicKey,
  ResponseHeadersPolicy,
  S3OriginAccessControl,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { rootPage } from '../core/files/pages.ts';
import { consoleBehaviors } from './console.ts';
import type { StackContext } from './context.ts';
import type { HttpApi } from './http-api.ts';
import { emptySecret } from './provider-secrets.ts';
import { HTTPS_ONLY, publicBehaviors, READABLE_BY_PAGES } from './public-pages.ts';
import { ServiceFunction } from './service-function.ts';

/** The content that the file delivery serves, and its origins. */
export interface FileDeliveryProps {
  bucket: Bucket;
  bundleOf: (name: string) => string;
  /** The API that the console calls, if the console is deployed. */
  httpApi: HttpApi;
  /** `deliveryBaseUrl` replaces the distribution's own domain. */
  context: Pick<
    StackContext,
    | 'deliveryBaseUrl'
    | 'filesDomainName'
    | 'filesCertificateArn'
    | 'filesWebAclArn'
    | 'signingKeys'
    | 'console'
  >;
}

/**
 * The content security policy of files. They can have the console's origin, and their bytes come from a provider: a document
 * among them runs no script and shares no storage. Browsers show images and videos by styles of their own.
 */
const FILE_POLICY = [
  'sandbox',
  "default-src 'none'",
  "img-src 'self'",
  "media-src 'self'",
  "style-src 'unsafe-inline'",
  "frame-ancestors 'none'",
].join('; ');

/** How long CloudFormation waits for a key pair: longer than its function runs, with its retries. */
const KEY_PAIR_TIMEOUT = Duration.minutes(5);

/** A key pair: the private half in a secret, the public half known to CloudFront. */
interface SigningKey {
  secret: Secret;
  publicKey: PublicKey;
}

/**
 * A CloudFront distribution over the private bucket that serves files by signed URL only, and the public pages. Each key pair is
 * created once, at deploy time, with the private key in Secrets Manager. No file is cached, so a removed one is gone at once.
 */
export class FileDelivery extends Construct {
  /** CloudFront's own name, for the DNS record of a custom domain. */
  readonly distributionDomain: string;
  readonly distribution: Distribution;
  /** Where callers reach the files. */
  readonly baseUrl: string;
  /** The key that signs. Others are trusted too, while URLs that they signed are valid. */
  private readonly signingKey: SigningKey;

  constructor(scope: Construct, id: string, { bucket, bundleOf, httpApi, context }: FileDeliveryProps) {
    super(scope, id);
    const createSigningKey = new ServiceFunction(this, 'CreateSigningKey', {
      bundle: bundleOf('events/create-signing-key'),
      description: 'Creates the key pairs of the signed URLs at deploy time',
      timeout: Duration.seconds(60),
    });
    const { filesDomainName } = context;
    const keys = context.signingKeys.map((number) => this.createSigningKey(number, createSigningKey));
    this.signingKey = keys[0] as SigningKey;
    const keyGroup = new KeyGroup(this, 'KeyGroup', {
      keyGroupName: this.globalName('keys'),
      items: keys.map(({ publicKey }) => publicKey),
    });
    const originAccessControl = new S3OriginAccessControl(this, 'OriginAccessControl', {
      originAccessControlName: this.globalName('files'),
    });
    const responseHeadersPolicy = this.createHeadersPolicy();
    const origin = S3BucketOrigin.withOriginAccessControl(bucket, { originAccessControl });
    const ownUrl = filesDomainName === undefined ? undefined : `https://${filesDomainName}`;
    const givenUrl = context.deliveryBaseUrl ?? ownUrl;
    const distribution = new Distribution(this, 'Distribution', {
      comment: 'Generated files, by signed URL, and the public pages',
      defaultRootObject: rootPage(context.console),
      defaultBehavior: {
        origin,
        allowedMethods: AllowedMethods.ALLOW_GET_HEAD,
        viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
        cachePolicy: CachePolicy.CACHING_DISABLED,
        trustedKeyGroups: [keyGroup],
        responseHeadersPolicy,
      },
      additionalBehaviors: {
        ...publicBehaviors(this, origin, this.globalName('pages')),
        ...(context.console &&
          consoleBehaviors(this, {
            origin,
            apiOrigin: httpApi.origin(),
            responseHeadersPolicyName: this.globalName('console'),
            filesUrl: givenUrl,
            uploadsUrl: `https://${bucket.bucketRegionalDomainName}`,
          })),
      },
      httpVersion: HttpVersion.HTTP2_AND_3,
      ...(context.filesWebAclArn !== undefined && { webAclId: context.filesWebAclArn }),
      ...this.customDomain(context),
    });
    this.distribution = distribution;
    this.distributionDomain = distribution.distributionDomainName;
    this.baseUrl = givenUrl ?? `https://${this.distributionDomain}`;
  }

  private createHeadersPolicy(): ResponseHeadersPolicy {
    return new ResponseHeadersPolicy(this, 'ResponseHeaders', {
      responseHeadersPolicyName: this.globalName('headers'),
      comment: 'Files are what their content type says, and run nothing',
      securityHeadersBehavior: {
        contentTypeOptions: { override: true },
        contentSecurityPolicy: { contentSecurityPolicy: FILE_POLICY, override: true },
        strictTransportSecurity: HTTPS_ONLY,
      },
      corsBehavior: READABLE_BY_PAGES,
    });
  }

  /** The operator's own domain of the distribution, with its certificate. Empty for none. */
  private customDomain({
    filesDomainName,
    filesCertificateArn,
  }: FileDeliveryProps['context']): Pick<
    DistributionProps,
    'domainNames' | 'certificate' | 'minimumProtocolVersion'
  > {
    if (filesDomainName === undefined || filesCertificateArn === undefined) return {};
    return {
      domainNames: [filesDomainName],
      certificate: Certificate.fromCertificateArn(this, 'Certificate', filesCertificateArn),
      minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
    };
  }

  /** Where the API is described. */
  get referenceUrl(): string {
    return `${this.baseUrl}/docs`;
  }

  /** Gives functions where the files are, so that they know the URLs of files. */
  bindBaseUrl(functions: readonly ServiceFunction[]): void {
    for (const to of functions) to.addEnvironment({ FILE_DELIVERY_BASE_URL: this.baseUrl });
  }

  /**
   * Gives functions the base URL of files and the distribution's own domain: a URL with either address names a file
   * of ours.
   */
  bindAddresses(functions: readonly ServiceFunction[]): void {
    this.bindBaseUrl(functions);
    for (const to of functions) to.addEnvironment({ FILE_DELIVERY_DOMAIN: this.distributionDomain });
  }

  /** Lets functions sign URLs of files. */
  bindSigning(functions: readonly ServiceFunction[]): void {
    const { secret, publicKey } = this.signingKey;
    this.bindBaseUrl(functions);
    for (const to of functions) {
      to.addEnvironment({
        FILE_DELIVERY_KEY_PAIR_ID: publicKey.publicKeyId,
        FILE_DELIVERY_KEY_SECRET_ARN: secret.secretArn,
      });
      to.allow(['secretsmanager:GetSecretValue'], [secret.secretArn]);
    }
  }

  /** CloudFront's names are those of the account, in no region. At most 64 characters. */
  private globalName(part: string): string {
    const { stackName, region } = Stack.of(this);
    return `${stackName}-${region}-${part}`;
  }

  /** A key pair created at deploy time. CloudFront cannot change a public key, so a new pair needs a new `number`. */
  private createSigningKey(number: number, createSigningKey: ServiceFunction): SigningKey {
    const suffix = number === 1 ? '' : String(number);
    const secret = emptySecret(
      this,
      `SigningKey${suffix}`,
      'Private key (PEM) that signs the URLs of files. Written once, at deploy time.',
    );
    createSigningKey.allow(
      ['secretsmanager:GetSecretValue', 'secretsmanager:PutSecretValue'],
      [secret.secretArn],
    );
    const { lambda } = createSigningKey;
    const keyPair = new CustomResource(this, `KeyPair${suffix}`, {
      resourceType: 'Custom::DeliveryKeyPair',
      serviceToken: lambda.functionArn,
      serviceTimeout: KEY_PAIR_TIMEOUT,
      properties: { SecretArn: secret.secretArn },
    });
    keyPair.node.addDependency(lambda.role ?? lambda);
    const publicKeyName = this.globalName(`key${suffix}`);
    const publicKey = new PublicKey(this, `PublicKey${suffix}`, {
      publicKeyName,
      encodedKey: keyPair.getAttString('PublicKey'),
    });
    const resource = publicKey.node.defaultChild as CfnPublicKey;
    resource.addPropertyOverride('PublicKeyConfig.CallerReference', publicKeyName);
    return { secret, publicKey };
  }
}
