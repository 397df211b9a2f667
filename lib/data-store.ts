import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, BillingMode, ProjectionType, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import { BlockPublicAccess, Bucket, BucketEncryption } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import {
  LISTING_ATTRIBUTES,
  LISTING_INDEX,
  OUTPUT_PREFIX,
  PRIMARY_KEY,
  REQUEST_INDEX_ATTRIBUTES,
  REQUEST_INDEXES,
  TTL_ATTRIBUTE,
} from '../core/table/keys.ts';
import { SECONDS_PER_DAY } from '../core/time.ts';

/** The table that holds every record of the service, and the bucket that holds the outputs. */
export class DataStore extends Construct {
  readonly table: Table;
  readonly bucket: Bucket;

  constructor(scope: Construct, id: string, props: { outputTtlSeconds: number }) {
    super(scope, id);
    const text = (name: string) => ({ name, type: AttributeType.STRING });
    this.table = new Table(this, 'Table', {
      partitionKey: text(PRIMARY_KEY.partition),
      sortKey: text(PRIMARY_KEY.sort),
      billingMode: BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: TTL_ATTRIBUTE,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      encryption: TableEncryption.AWS_MANAGED,
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
    this.table.addGlobalSecondaryIndex({
      indexName: LISTING_INDEX.name,
      partitionKey: text(LISTING_INDEX.partition),
      sortKey: text(LISTING_INDEX.sort),
      projectionType: ProjectionType.INCLUDE,
      nonKeyAttributes: LISTING_ATTRIBUTES,
    });
    for (const { name, partition } of Object.values(REQUEST_INDEXES)) {
      this.table.addGlobalSecondaryIndex({
        indexName: name,
        partitionKey: text(partition),
        sortKey: text(PRIMARY_KEY.partition),
        projectionType: ProjectionType.INCLUDE,
        nonKeyAttributes: REQUEST_INDEX_ATTRIBUTES,
      });
    }
    this.bucket = new Bucket(this, 'Outputs', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      removalPolicy: RemovalPolicy.RETAIN,
      lifecycleRules: [
        {
          // A backstop: no file outlives its URLs by more than two days, whatever failed to remove it.
          id: 'expire-outputs',
          prefix: OUTPUT_PREFIX,
          expiration: Duration.days(Math.ceil(props.outputTtlSeconds / SECONDS_PER_DAY) + 1),
        },
        { id: 'abort-uploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
      ],
    });
  }
}
