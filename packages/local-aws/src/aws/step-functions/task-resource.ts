/** What a Task state's `Resource` calls. */
export interface TaskResource {
  service: 'lambda' | 'states' | 'dynamodb';
  /** The API's name of the operation: `Invoke`, `StartExecution`, `UpdateItem`, … */
  operation: string;
  /** As history events name them: `lambda` and `invoke.waitForTaskToken`, `aws-sdk:dynamodb` and `updateItem`. */
  resourceType: string;
  resource: string;
  /** The task ends when its token is handed in, not when the call answers. */
  waitsForToken: boolean;
  /** What the service's exceptions are prefixed with (`DynamoDB.` for the optimized integration, `DynamoDb.` for the SDK's). */
  errorPrefix: string;
  /** Set when the resource is a function itself: its input is the payload, its result the output. */
  functionArn?: string;
}

const ERROR_PREFIXES: Record<string, string> = {
  'lambda:invoke': 'Lambda',
  'states:startExecution': 'StepFunctions',
  'dynamodb:getItem': 'DynamoDB',
  'dynamodb:putItem': 'DynamoDB',
  'dynamodb:updateItem': 'DynamoDB',
  'dynamodb:deleteItem': 'DynamoDB',
};

const INTEGRATION = /^arn:aws:states:::(?:(aws-sdk):)?([a-z0-9]+):([A-Za-z]+)(\.waitForTaskToken)?$/;

/** Reads a Task state's `Resource`. Undefined when the local run has no such integration. */
export const readTaskResource = (arn: string): TaskResource | undefined => {
  if (/^arn:aws:lambda:[^:]*:[^:]*:function:/.test(arn)) {
    return {
      service: 'lambda',
      operation: 'Invoke',
      resourceType: 'lambda',
      resource: arn,
      waitsForToken: false,
      errorPrefix: 'Lambda',
      functionArn: arn,
    };
  }
  const [, sdk, service = '', action = '', suffix = ''] = INTEGRATION.exec(arn) ?? [];
  const errorPrefix =
    sdk === undefined
      ? ERROR_PREFIXES[`${service}:${action}`]
      : service === 'dynamodb'
        ? 'DynamoDb'
        : undefined;
  if (errorPrefix === undefined) return undefined;
  return {
    service: service as TaskResource['service'],
    operation: action.charAt(0).toUpperCase() + action.slice(1),
    resourceType: sdk === undefined ? service : `${sdk}:${service}`,
    resource: action + suffix,
    waitsForToken: suffix !== '',
    errorPrefix,
  };
};
