import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';

import type { InvocationResult, InvokeFunction } from '../../types.ts';
import { functionArn, type Place, withoutQualifier } from '../arn.ts';
import type { Permission } from '../authorize.ts';
import { AwsError, messageOf, nameOf } from '../errors.ts';

const INVOKE_PATH = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/;

/** Takes an event for a function. Throws `ResourceNotFoundException` when there is no such function. */
export type InvokeLater = (functionArn: string, payload: unknown) => void;

/**
 * The ARN of the function that an Invoke request names, qualified by the request's version or alias, and the
 * invocation type. Throws `UnknownOperationException` for any other call, `NotImplemented` for a dry run and for the
 * end of the log.
 */
export const invokedBy = (
  place: Place,
  method: string,
  target: { pathname: string; searchParams: URLSearchParams },
  headers: IncomingHttpHeaders,
): { arn: string; isAsynchronous: boolean } => {
  const match = method === 'POST' ? INVOKE_PATH.exec(target.pathname) : null;
  if (!match?.[1]) {
    throw new AwsError('UnknownOperationException', `There is no ${method} ${target.pathname}`, 404);
  }
  const type = headers['x-amz-invocation-type'] ?? 'RequestResponse';
  if (type !== 'RequestResponse' && type !== 'Event') {
    throw new AwsError('NotImplemented', `The local Lambda has no invocations of type ${type}`, 501);
  }
  if (headers['x-amz-log-type'] === 'Tail') {
    throw new AwsError('NotImplemented', 'The local Lambda returns no logs', 501);
  }
  const arn = functionArn(place, decodeURIComponent(match[1]));
  const qualifier = target.searchParams.get('Qualifier');
  return { arn: qualifier ? `${arn}:${qualifier}` : arn, isAsynchronous: type === 'Event' };
};

/** What Invoke needs. */
export const invocationPermissions = (arn: string): Permission[] => [
  { action: 'lambda:InvokeFunction', resource: arn },
];

/** The status of each refusal of an invocation. */
const REFUSAL_STATUS: Record<string, number> = {
  ResourceNotFoundException: 404,
  RequestTooLargeException: 413,
  TooManyRequestsException: 429,
};

/** Parses a payload; an empty one is `{}`. Throws `InvalidRequestContentException`. */
export const parsePayload = (body: Buffer): unknown => {
  try {
    return body.length === 0 ? {} : JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw new AwsError(
      'InvalidRequestContentException',
      `Could not parse request body into json: ${messageOf(error)}`,
    );
  }
};

/** Functions have no versions and aliases here. */
const isLatest = (arn: string): boolean =>
  [withoutQualifier(arn), `${withoutQualifier(arn)}:$LATEST`].includes(arn);

/** An error of an invocation, as Lambda answers it. */
const refusalOf = (error: unknown): AwsError => {
  const status = REFUSAL_STATUS[nameOf(error)];
  return status === undefined
    ? new AwsError('ServiceException', messageOf(error), 500)
    : new AwsError(nameOf(error), messageOf(error), status);
};

const checkVersion = (arn: string): void => {
  if (!isLatest(arn)) throw new AwsError('ResourceNotFoundException', `Function not found: ${arn}`, 404);
};

/** Takes an event for a function. Throws Lambda's refusals. */
export const queueInvocation = (invokeLater: InvokeLater, arn: string, payload: unknown): void => {
  checkVersion(arn);
  try {
    invokeLater(withoutQualifier(arn), payload);
  } catch (error) {
    throw refusalOf(error);
  }
};

/** Answers that an event was taken. */
export const sendQueued = (response: ServerResponse): void => {
  response.writeHead(202, { 'x-amzn-requestid': randomUUID() });
  response.end();
};

/** Invokes a function and waits for its result. Throws Lambda's refusals. */
export const invokeAndWait = async (
  invoke: InvokeFunction,
  arn: string,
  payload: unknown,
): Promise<InvocationResult> => {
  checkVersion(arn);
  try {
    return await invoke(withoutQualifier(arn), payload);
  } catch (error) {
    throw refusalOf(error);
  }
};

/** Answers with what a function returned, or how it failed. */
export const sendInvocation = (
  response: ServerResponse,
  { payload, functionError }: InvocationResult,
): void => {
  response.writeHead(200, {
    'content-type': 'application/json',
    'x-amz-executed-version': '$LATEST',
    'x-amzn-requestid': randomUUID(),
    ...(functionError !== undefined && { 'x-amz-function-error': functionError }),
  });
  response.end(JSON.stringify(payload ?? null));
};
