import type { InvokeFunction, Principal } from '../types.ts';
import type { Place } from './arn.ts';
import type { CallCounter } from './call-counter.ts';
import type { DynamoDbClient } from './dynamodb/client.ts';
import type { Restores } from './dynamodb/restores.ts';
import type { CheckStartKey } from './dynamodb/start-keys.ts';
import type { Faults } from './faults.ts';
import type { AccountSettings } from './lambda/account-settings.ts';
import type { InvokeLater } from './lambda/lambda.ts';
import type { DynamoDbPermissions } from './permissions/dynamodb.ts';
import type { BucketCors } from './s3/cors.ts';
import type { S3Service } from './s3/s3-service.ts';
import type { SecretStore } from './secrets/secret-store.ts';
import type { StepFunctions } from './step-functions/step-functions.ts';

/** The services behind the endpoint. */
export interface Services {
  place: Place;
  counter: CallCounter;
  faults: Faults;
  dynamodbPermissions: DynamoDbPermissions;
  checkStartKey: CheckStartKey;
  restores: Restores;
  principals: Map<string, Principal>;
  dynamodb: DynamoDbClient;
  s3: S3Service;
  cors: BucketCors;
  secrets: SecretStore;
  stepFunctions: StepFunctions;
  invoke: InvokeFunction;
  invokeLater: InvokeLater;
  accountSettings: AccountSettings;
}
