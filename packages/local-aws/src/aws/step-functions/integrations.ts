import type { InvokeFunction, Principal } from '../../types.ts';
import { functionArn, type Place, withoutQualifier } from '../arn.ts';
import { findRefusal, type Permission } from '../authorize.ts';
import { AwsError, messageOf, nameOf } from '../errors.ts';
import { type AdmittedCall, type Aftermath, killProcess } from '../faults.ts';
import type { DynamoDbPermissions } from '../permissions/dynamodb.ts';
import { runtimeError, TaskError } from './interpreter/errors.ts';
import type { TaskResource } from './interpreter/task-resource.ts';

type Json = Record<string, unknown>;

/** What the integrations call. */
export interface IntegrationServices {
  place: Place;
  invoke: InvokeFunction;
  dynamodbPermissions: DynamoDbPermissions;
  callDynamoDb(operation: string, body: unknown): Promise<Json>;
  startExecution(body: Json): { executionArn: string; startDate: number };
  /** Counts an allowed call and applies faults to it. Throws `AwsError` where a fault refuses it. */
  admit(call: AdmittedCall): Promise<Aftermath>;
}

/** Makes the call of a Task state with the state machine's role. Rejects with `TaskError`. */
export type CallIntegration = (
  principal: Principal,
  resource: TaskResource,
  parameters: unknown,
) => Promise<unknown>;

/** Refusals of Lambda that Step Functions passes on under their own names. */
const REFUSED_INVOCATIONS = ['ResourceNotFoundException', 'TooManyRequestsException'];

const asJson = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};

/** A JSON copy, made in this realm: the value may come from another thread or context. */
const copyJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

/** The integrations `lambda:invoke`, `states:startExecution` and `dynamodb:*`, each checked against the machine's role. */
export const createIntegrations = (services: IntegrationServices): CallIntegration => {
  const { place } = services;

  /** Makes a call if the role allows it; else throws an error named `refusal`. */
  const perform = async <T>(
    { principal, name, parameters }: { principal: Principal; name: string; parameters: unknown },
    allowed: { permissions: Permission[]; refusal: string },
    work: () => T | Promise<T>,
  ): Promise<T> => {
    const refused = findRefusal(principal, allowed.permissions);
    if (refused) throw new TaskError(allowed.refusal, refused);
    const aftermath = await services.admit({
      principalName: principal.name,
      name,
      text: () => JSON.stringify(parameters ?? null),
    });
    const [result] = await Promise.allSettled([(async () => work())()]);
    if (aftermath === 'kill') killProcess();
    if (aftermath === 'drop') throw new AwsError('SdkClientException', 'The connection was dropped');
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  };

  const invokeFunction = async (principal: Principal, nameOrArn: string, payload: unknown) => {
    const arn = functionArn(place, nameOrArn);
    const result = await perform(
      { principal, name: 'lambda:Invoke', parameters: { FunctionName: nameOrArn, Payload: payload } },
      // The names Step Functions gives these errors.
      {
        permissions: [{ action: 'lambda:InvokeFunction', resource: arn }],
        refusal: 'Lambda.AWSLambdaException',
      },
      () =>
        services.invoke(withoutQualifier(arn), payload).catch((error: unknown) => {
          const name = nameOf(error);
          const isKnown = REFUSED_INVOCATIONS.includes(name);
          throw new TaskError(isKnown ? `Lambda.${name}` : 'Lambda.ServiceException', messageOf(error));
        }),
    );
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
    if (typeof name !== 'string') throw runtimeError('FunctionName is missing');
    const invocation = invokeFunction(principal, name, parameters.Payload ?? {});
    if (parameters.InvocationType === 'Event') {
      // Nobody learns how an asynchronous invocation ends; a failure to begin it is logged.
      invocation.catch((error: unknown) => console.error(`[aws] ${name}: ${messageOf(error)}`));
      return { ExecutedVersion: '$LATEST', Payload: '', StatusCode: 202 };
    }
    return { ExecutedVersion: '$LATEST', Payload: await invocation, StatusCode: 200 };
  };

  const startExecution = async (principal: Principal, parameters: Json) => {
    const { StateMachineArn, Input, Name } = parameters;
    if (typeof StateMachineArn !== 'string') throw runtimeError('StateMachineArn is missing');
    const { executionArn, startDate } = await perform(
      { principal, name: 'states:StartExecution', parameters },
      {
        permissions: [{ action: 'states:StartExecution', resource: StateMachineArn }],
        refusal: 'StepFunctions.AccessDeniedException',
      },
      () =>
        services.startExecution({
          stateMachineArn: StateMachineArn,
          ...(Name === undefined ? {} : { name: Name }),
          input: typeof Input === 'string' ? Input : JSON.stringify(Input ?? {}),
        }),
    );
    return { ExecutionArn: executionArn, StartDate: startDate };
  };

  const callDynamoDb = (principal: Principal, { operation, errorPrefix }: TaskResource, body: Json) =>
    perform(
      { principal, name: `dynamodb:${operation}`, parameters: body },
      {
        permissions: services.dynamodbPermissions(operation, body),
        refusal: `${errorPrefix}.AccessDeniedException`,
      },
      () => services.callDynamoDb(operation, body),
    );

  return async (principal, resource, parameters) => {
    try {
      if (resource.functionArn !== undefined) {
        return await invokeFunction(principal, resource.functionArn, parameters);
      }
      switch (resource.service) {
        case 'lambda':
          return await callLambda(principal, asJson(parameters));
        case 'states':
          return await startExecution(principal, asJson(parameters));
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
