import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import {
  AttributeType,
  BillingMode,
  type ITable,
  ProjectionType,
  Table,
  TableEncryption,
} from 'aws-cdk-lib/aws-dynamodb';
import { BlockPublicAccess, Bucket, BucketEncryption, HttpMethods } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { ACCOUNT_ID_PREFIX } from '../core/ids.ts';
import { CLIP_PREFIX, OUTPUT_PREFIX, UPLOAD_PREFIX } from '../core/object-keys.ts';
import {
  LISTING_ATTRIBUTES,
  LISTING_INDEX,
  PRIMARY_KEY,
  REQUEST_INDEX_ATTRIBUTES,
  REQUEST_INDEXES,
  TTL_ATTRIBUTE,
} from '../core/table/keys.ts';
import { SECONDS_PER_DAY } from '../core/time.ts';
import type { StackContext } from './context.ts';
import type { Conditions, ServiceFunction } from './service-function.ts';
import type { ItemAccess } from './table-access.ts';
import { attributesNamed } from './table-attributes.ts';
import { type PartitionKind, partitionPatterns } from './table-partitions.ts';

const patterns = partitionPatterns();

/** The actions that each kind of access to the files takes. */
const FILE_ACCESS = {
  store: {
    onFiles: ['s3:PutObject', 's3:AbortMultipartUpload', 's3:DeleteObject'],
    onBucket: [],
  },
  // To write without reading: this is for the function that parses what strangers send.
  copy: { onFiles: ['s3:PutObject', 's3:AbortMultipartUpload'], onBucket: [] },
  remove: { onFiles: ['s3:DeleteObject'], onBucket: ['s3:ListBucket'] },
  delete: { onFiles: ['s3:DeleteObject'], onBucket: [] },
  // The caller's form is signed by the function, and puts the file by its rights.
  put: { onFiles: ['s3:PutObject'], onBucket: [] },
} as const;

/** Reads for each write, as a new table on demand takes them: 12,000 and 4,000 units a second. */
const WARM_READS = 3;

/** The throughput that a table or an index takes from its first minute; DynamoDB's own without it. */
const warmUnits = (writeUnitsPerSecond: number | undefined) =>
  writeUnitsPerSecond === undefined
    ? {}
    : { warmThroughput: { writeUnitsPerSecond, readUnitsPerSecond: WARM_READS * writeUnitsPerSecond } };

/** What a permission on the table is limited to. */
interface TableScope {
  /** ARNs of the table or its indexes. */
  resources: string[];
  /** Patterns of partition keys. */
  partitions: string[];
  conditions?: Conditions | undefined;
}

const removalOf = (isKept: boolean): RemovalPolicy => (isKept ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY);

/** The table with every record of the service, and the bucket with the outputs. */
export class DataStore extends Construct {
  /** The table in use: the stack's own, or an adopted one that `ops table restore` has made. */
  readonly table: ITable;
  readonly bucket: Bucket;

  constructor(
    scope: Construct,
    id: string,
    props: Pick<StackContext, 'outputTtlSeconds' | 'removalPolicy' | 'tableName' | 'warmThroughput'>,
  ) {
    super(scope, id);
    // `destroy` is for development: with the stack go all accounts, requests and files.
    const isKept = props.removalPolicy === 'keep';
    // The own table stays in the template when another table is adopted: no deployment deletes it, and the way back is a deployment.
    const own = this.createTable(isKept, props.warmThroughput);
    this.table =
      props.tableName === undefined ? own : Table.fromTableName(this, 'AdoptedTable', props.tableName);
    this.bucket = this.createBucket(isKept, props.outputTtlSeconds);
  }

  private createTable(isKept: boolean, warmThroughput: number | undefined): Table {
    // A throttled index throttles the writes of its table.
    const warm = warmUnits(warmThroughput);
    const text = (name: string) => ({ name, type: AttributeType.STRING });
    const table = new Table(this, 'Table', {
      partitionKey: text(PRIMARY_KEY.partition),
      sortKey: text(PRIMARY_KEY.sort),
      billingMode: BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: TTL_ATTRIBUTE,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      encryption: TableEncryption.AWS_MANAGED,
      deletionProtection: isKept,
      removalPolicy: removalOf(isKept),
      ...warm,
    });
    table.addGlobalSecondaryIndex({
      indexName: LISTING_INDEX.name,
      partitionKey: text(LISTING_INDEX.partition),
      sortKey: text(LISTING_INDEX.sort),
      projectionType: ProjectionType.INCLUDE,
      nonKeyAttributes: LISTING_ATTRIBUTES,
      ...warm,
    });
    for (const { name, partition } of Object.values(REQUEST_INDEXES)) {
      table.addGlobalSecondaryIndex({
        indexName: name,
        partitionKey: text(partition),
        sortKey: text(PRIMARY_KEY.partition),
        projectionType: ProjectionType.INCLUDE,
        nonKeyAttributes: REQUEST_INDEX_ATTRIBUTES,
        ...warm,
      });
    }
    return table;
  }

  private createBucket(isKept: boolean, outputTtlSeconds: number): Bucket {
    return new Bucket(this, 'Outputs', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      removalPolicy: removalOf(isKept),
      // CloudFormation deletes no bucket that holds objects.
      ...(!isKept && { autoDeleteObjects: true }),
      // For forms of uploads. A form carries a signed policy, so a page of any origin may send one.
      cors: [
        {
          allowedMethods: [HttpMethods.POST],
          allowedOrigins: ['*'],
          allowedHeaders: ['*'],
          exposedHeaders: ['ETag'],
          maxAge: 3_600,
        },
      ],
      lifecycleRules: [
        {
          // A backstop if removal fails: no file outlives its URLs by more than two days.
          id: 'expire-outputs',
          prefix: OUTPUT_PREFIX,
          expiration: Duration.days(Math.ceil(outputTtlSeconds / SECONDS_PER_DAY) + 1),
        },
        {
          // A backstop too, and for a creation that died between a copy and its record. Far longer than any request waits.
          id: 'expire-clips',
          prefix: CLIP_PREFIX,
          expiration: Duration.days(2),
        },
        // Their URLs stop working after as long.
        { id: 'expire-uploads', prefix: UPLOAD_PREFIX, expiration: Duration.days(2) },
        { id: 'abort-uploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
      ],
    });
  }

  /** Lets a function touch these items of the table, and no others; its indexes are apart. */
  bindItems(
    to: ServiceFunction,
    { reads, queries, writes = [], updates, routeLimits, routeStates }: ItemAccess,
  ): void {
    const [readable, ...readOperations] = reads;
    this.allowOnItems(to, readOperations, readable);
    if (queries) this.allowOnItems(to, ['Query'], queries);
    if (updates) this.allowOnItems(to, ['UpdateItem'], updates);
    if (routeLimits) this.allowOnItems(to, routeLimits, ['routeLimits']);
    if (routeStates) this.allowOnItems(to, routeStates, ['routeStates']);
    for (const { kinds, operations, attributes } of writes) {
      this.allowOnItems(to, operations, kinds, attributes);
    }
  }

  /** Lets a function query the listing index for lists of this kind. */
  bindListing(to: ServiceFunction, kind: PartitionKind): void {
    this.allowOnTable(to, ['Query'], {
      resources: [this.indexArn(LISTING_INDEX)],
      partitions: [patterns[kind]],
    });
  }

  /** Lets a function query these indexes of requests. All their partitions begin with an account's id. */
  bindRequestIndexes(to: ServiceFunction, ...indexes: { name: string }[]): void {
    this.allowOnTable(to, ['Query'], {
      resources: indexes.map((index) => this.indexArn(index)),
      partitions: [`${ACCOUNT_ID_PREFIX}*`],
    });
  }

  private indexArn({ name }: { name: string }): string {
    return `${this.table.tableArn}/index/${name}`;
  }

  /**
   * Lets functions store files (write, read back and delete), copy files (write), remove files (list and delete), or
   * delete files by name. `prefixes` are those of outputs, of copies of reference clips, or of both.
   */
  bindFiles(
    functions: readonly ServiceFunction[],
    access: keyof typeof FILE_ACCESS,
    prefixes: readonly string[] = [OUTPUT_PREFIX, CLIP_PREFIX],
  ): void {
    const { onFiles, onBucket } = FILE_ACCESS[access];
    const files = prefixes.map((prefix) => this.bucket.arnForObjects(`${prefix}*`));
    for (const to of functions) {
      to.addEnvironment({ BUCKET_NAME: this.bucket.bucketName });
      to.allow(onFiles, files);
      if (onBucket.length > 0) to.allow(onBucket, [this.bucket.bucketArn]);
    }
  }

  private allowOnItems(
    to: ServiceFunction,
    operations: readonly string[],
    kinds: readonly PartitionKind[],
    attributes?: readonly string[],
  ): void {
    const partitions = kinds.map((kind) => patterns[kind]);
    // `ForAllValues` alone is met by a call that names no attribute.
    const onAttributes = attributes && {
      'ForAllValues:StringEquals': { 'dynamodb:Attributes': attributesNamed(attributes) },
      Null: { 'dynamodb:Attributes': 'false' },
    };
    this.allowOnTable(to, operations, {
      resources: [this.table.tableArn],
      partitions,
      conditions: onAttributes,
    });
  }

  private allowOnTable(
    to: ServiceFunction,
    operations: readonly string[],
    { resources, partitions, conditions }: TableScope,
  ): void {
    to.addEnvironment({ TABLE_NAME: this.table.tableName });
    to.allow(
      operations.map((operation) => `dynamodb:${operation}`),
      resources,
      { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': partitions }, ...conditions },
    );
  }
}
