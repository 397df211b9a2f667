import { join } from 'node:path';
import type { InvokeFunction, SecretSpec, TableSpec } from '../types.ts';
import { createCallCounter } from './call-counter.ts';
import type { DynamoDbClient } from './dynamodb/client.ts';
import { openRestores } from './dynamodb/restores.ts';
import { createStartKeyCheck } from './dynamodb/start-keys.ts';
import { createTables } from './dynamodb/tables.ts';
import { createFaults } from './faults.ts';
import { accountSettings } from './lambda/account-settings.ts';
import type { InvokeLater } from './lambda/lambda.ts';
import { createDynamoDbPermissions } from './permissions/dynamodb.ts';
import type { BucketCors } from './s3/cors.ts';
import { openS3Service } from './s3/s3-service.ts';
import { openSecretStore } from './secrets/secret-store.ts';
import type { Services } from './services.ts';
import { createStepFunctions } from './step-functions/step-functions.ts';

/** https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html */
const MAX_OPEN_EXECUTIONS = 1_000_000;

/** What the services of an endpoint work with. */
export interface ServicesOptions {
  dataDir: string;
  region: string;
  accountId: string;
  tables: TableSpec[];
  buckets: string[];
  /** What web pages may send to the buckets; nothing by default. */
  cors?: BucketCors;
  secrets: SecretSpec[];
  /** Executions that run at once. Default: 1,000,000, an account's limit. */
  maxOpenExecutions?: number;
  /** Functions that run at once. Default: 1,000. */
  maxConcurrency?: number;
  /** How much of the concurrency each function has reserved. */
  reservedConcurrency?: number[];
}

/** The functions that calls reach: none until `openFunctions`. */
export interface OpenedFunctions {
  invoke: InvokeFunction;
  invokeLater: InvokeLater;
}

/** The services over the data directory. Creates missing tables and buckets. */
export const openServices = async (
  options: ServicesOptions,
  dynamodb: DynamoDbClient,
  functions: OpenedFunctions,
): Promise<Services> => {
  const { dataDir, region, accountId } = options;
  const place = { region, accountId };
  await createTables(dynamodb, options.tables);
  const s3 = await openS3Service(join(dataDir, 'objects'), options.buckets);
  const secrets = openSecretStore(join(dataDir, 'secrets.json'), options.secrets);
  const counter = createCallCounter();
  const faults = createFaults();
  const tables = [...options.tables];
  const restores = await openRestores({
    place,
    engine: dynamodb,
    tables,
    file: join(dataDir, 'tables.json'),
  });
  const stepFunctions = createStepFunctions({
    place,
    directory: join(dataDir, 'executions'),
    maxOpenExecutions: options.maxOpenExecutions ?? MAX_OPEN_EXECUTIONS,
    admit(call) {
      counter.add(call.principalName, call.name);
      return faults.meet(call);
    },
  });
  return {
    place,
    counter,
    faults,
    principals: new Map(),
    dynamodbPermissions: createDynamoDbPermissions(place, tables),
    checkStartKey: createStartKeyCheck(tables),
    restores,
    dynamodb,
    s3,
    cors: options.cors ?? {},
    secrets,
    stepFunctions,
    invoke: (arn, payload) => functions.invoke(arn, payload),
    invokeLater: (arn, payload) => functions.invokeLater(arn, payload),
    accountSettings: accountSettings(options.maxConcurrency, options.reservedConcurrency),
  };
};
