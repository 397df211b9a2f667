/** A DynamoDB engine by itself, and a small client for it. */
export { createDynamoDbClient, type DynamoDbClient } from './aws/dynamodb/client.ts';
export { type DynamoDbEngine, NoDynamoDbEngineError, startDynoxide } from './aws/dynamodb/dynoxide.ts';
