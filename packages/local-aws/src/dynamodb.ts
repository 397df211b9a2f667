/** A DynamoDB engine by itself, and a small client for it. */
export { createDynamoDbClient, type DynamoDbClient } from './aws/dynamodb/client.ts';
export { type DynamoDbEngine, startDynoxide } from './aws/dynamodb/dynoxide.ts';
export { NoDynamoDbEngineError } from './aws/dynamodb/engine-package.ts';
