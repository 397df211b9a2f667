/** What a Task state's `Resource` calls. */
export interface TaskResource {
  service: 'lambda' | 'states' | 'dynamodb';
  /** The API's name of the operation: `Invoke`, `StartExecution`, `UpdateItem`, … */
  operation: string;
  /** As history events name them: `lambda` and `invoke.waitForTaskToken`, `aws-sdk:dynamodb` and `updateItem`. */
  resourceType: string;
  resource: string;
  /** The task ends when its token is returned, not when the call is answered. */
  waitsForToken: boolean;
  /** Prefix of the service's exceptions (`DynamoDB.` for the optimized integration, `DynamoDb.` for the SDK's). */
  errorPrefix: string;
  /** Set when the resource is a function: the input is its payload, its result the output. */
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
