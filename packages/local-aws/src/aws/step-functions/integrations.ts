import type { InvokeFunction, Principal } from '../../types.ts';
import { functionArn, type Place, withoutQualifier } from '../arn.ts';
import { findRefusal } from '../authorize.ts';
import { AwsError, messageOf, nameOf } from '../errors.ts';
import { type AdmittedCall, type Aftermath, killProcess } from '../faults.ts';
import { runtimeError, TaskError } from './interpreter/errors.ts';

type Json = Record<string, unknown>;

/** What the integration calls. */
export interface IntegrationServices {
  place: Place;
  invoke: InvokeFunction;
  /** Counts an allowed call and applies faults to it. Throws `AwsError` where a fault refuses it. */
  admit(call: AdmittedCall): Promise<Aftermath>;
}

/** Makes the call of a Task state with the state machine's role. Rejects with `TaskError`. */
export type CallIntegration = (principal: Principal, parameters: unknown) => Promise<unknown>;

/** Refusals of Lambda that Step Functions passes on under their own names. */
const REFUSED_INVOCATIONS = ['ResourceNotFoundException', 'TooManyRequestsException'];

const asJson = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};

/** A JSON copy, made in this realm: the value may come from another thread or context. */
const copyJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

/** The integration `lambda:invoke`, checked against the machine's role. */
export const createIntegration =
  ({ place, invoke, admit }: IntegrationServices): CallIntegration =>
  async (principal, parameters) => {
    const { FunctionName, Payload = {} } = asJson(parameters);
    if (typeof FunctionName !== 'string') throw runtimeError('FunctionName is missing');
    const arn = functionArn(place, FunctionName);
    const refused = findRefusal(principal, [{ action: 'lambda:InvokeFunction', resource: arn }]);
    // The names that Step Functions gives these errors.
    if (refused) throw new TaskError('Lambda.AWSLambdaException', refused);
    const call = {
      principalName: principal.name,
      name: 'lambda:Invoke',
      text: () => JSON.stringify({ FunctionName, Payload }),
    };
    const aftermath = await admit(call).catch((error: unknown) => {
      throw error instanceof AwsError ? new TaskError(`Lambda.${error.code}`, error.message) : error;
    });
    const [result] = await Promise.allSettled([invoke(withoutQualifier(arn), Payload)]);
    if (aftermath === 'kill') killProcess();
    if (aftermath === 'drop') throw new TaskError('Lambda.SdkClientException', 'The connection was dropped');
    if (result.status === 'rejected') {
      const name = nameOf(result.reason);
      const isKnown = REFUSED_INVOCATIONS.includes(name);
      throw new TaskError(isKnown ? `Lambda.${name}` : 'Lambda.ServiceException', messageOf(result.reason));
    }
    const output = copyJson(result.value.payload);
    if (!result.value.functionError) return { ExecutedVersion: '$LATEST', Payload: output, StatusCode: 200 };
    const { errorType } = asJson(output);
    throw new TaskError(typeof errorType === 'string' ? errorType : 'Lambda.Unknown', JSON.stringify(output));
  };
