import type { InvokeFunction, Principal } from '../../types.ts';
import { functionArn, type Place, withoutQualifier } from '../arn.ts';
import { findRefusal, type Permission } from '../authorize.ts';
import { AwsError, messageOf, nameOf } from '../errors.ts';
import { dynamodbPermissions } from '../permissions/dynamodb.ts';
import type { TaskResource } from './task-resource.ts';
import { FatalTaskError, TaskError } from './types.ts';

type Json = Record<string, unknown>;

/** What the integrations need of the rest of the local run. */
export interface IntegrationServices {
  place: Place;
  invoke: InvokeFunction;
  callDynamoDb(operation: string, body: unknown): Promise<Json>;
  startExecution(body: Json): { executionArn: string; startDate: number };
  count(principalName: string, call: string): void;
}

/** Makes the call of a Task state as the state machine's role; resolves with the integration's result, rejects with `TaskError`. */
export type CallIntegration = (
  principal: Principal,
  resource: TaskResource,
  parameters: unknown,
) => Promise<unknown>;

const asJson = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};

/** A copy as JSON carries it, made in this realm whatever thread or context the value came from. */
const copyJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

/** The calls of `lambda:invoke`, `states:startExecution` and `dynamodb:*`, each allowed or refused by the machine's role. */
export const createIntegrations = (services: IntegrationServices): CallIntegration => {
  const { place } = services;

  const allow = (principal: Principal, permissions: Permission[], error: string, call: string) => {
    const refused = findRefusal(principal, permissions);
    if (refused) throw new TaskError(error, refused);
    services.count(principal.name, call);
  };

  const invokeFunction = async (principal: Principal, nameOrArn: string, payload: unknown) => {
    const arn = functionArn(place, nameOrArn);
    // The names Step Functions gives these errors.
    const permission = { action: 'lambda:InvokeFunction', resource: arn };
    allow(principal, [permission], 'Lambda.AWSLambdaException', 'lambda:Invoke');
    const result = await services.invoke(withoutQualifier(arn), payload).catch((error: unknown) => {
      const isMissing = nameOf(error) === 'ResourceNotFoundException';
      throw new TaskError(
        isMissing ? 'Lambda.ResourceNotFoundException' : 'Lambda.ServiceException',
        messageOf(error),
      );
    });
    const output = copyJson(result.payload);
    if (result.functionError) {
      const { errorType } = asJson(output);
      throw new TaskError(
        typeof errorType === 'string' ? errorType : 'Lambda.Unknown',
        JSON.stringify(output),
      );
    }
    return output;
  };

  const callLambda = async (principal: Principal, parameters: Json) => {
    const name = parameters.FunctionName;
    if (typeof name !== 'string') throw new FatalTaskError('States.Runtime', 'FunctionName is missing');
    const invocation = invokeFunction(principal, name, parameters.Payload ?? {});
    if (parameters.InvocationType === 'Event') {
      // Nobody learns how an asynchronous invocation ends; a failure to begin it is logged.
      invocation.catch((error: unknown) => console.error(`[aws] ${name}: ${messageOf(error)}`));
      return { ExecutedVersion: '$LATEST', Payload: '', StatusCode: 202 };
    }
    return { ExecutedVersion: '$LATEST', Payload: await invocation, StatusCode: 200 };
  };

  const startExecution = (principal: Principal, parameters: Json) => {
    const { StateMachineArn, Input, Name } = parameters;
    if (typeof StateMachineArn !== 'string') {
      throw new FatalTaskError('States.Runtime', 'StateMachineArn is missing');
    }
    const permission = { action: 'states:StartExecution', resource: StateMachineArn };
    allow(principal, [permission], 'StepFunctions.AccessDeniedException', 'states:StartExecution');
    const { executionArn, startDate } = services.startExecution({
      stateMachineArn: StateMachineArn,
      ...(Name === undefined ? {} : { name: Name }),
      input: typeof Input === 'string' ? Input : JSON.stringify(Input ?? {}),
    });
    return { ExecutionArn: executionArn, StartDate: startDate };
  };

  const callDynamoDb = (principal: Principal, { operation, errorPrefix }: TaskResource, body: Json) => {
    const permissions = dynamodbPermissions(place, operation, body);
    allow(principal, permissions, `${errorPrefix}.AccessDeniedException`, `dynamodb:${operation}`);
    return services.callDynamoDb(operation, body);
  };

  return async (principal, resource, parameters) => {
    try {
      if (resource.functionArn !== undefined) {
        return await invokeFunction(principal, resource.functionArn, parameters);
      }
      switch (resource.service) {
        case 'lambda':
          return await callLambda(principal, asJson(parameters));
        case 'states':
          return startExecution(principal, asJson(parameters));
        case 'dynamodb':
          return await callDynamoDb(principal, resource, asJson(parameters));
      }
    } catch (error) {
      if (!(error instanceof AwsError)) throw error;
      const name = error.code.endsWith('Exception') ? error.code : `${error.code}Exception`;
      throw new TaskError(`${resource.errorPrefix}.${name}`, error.message);
    }
  };
};
