import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Principal } from '../types.ts';
import type { Place } from './arn.ts';
import { findRefusal } from './authorize.ts';
import { applyGuardrail, guardrailOf, guardrailPermissions, sendRestJson } from './bedrock/guardrails.ts';
import type { CallCounter } from './call-counter.ts';
import { readCredentialScope } from './credential-scope.ts';
import type { DynamoDbClient } from './dynamodb/client.ts';
import { AwsError, messageOf } from './errors.ts';
import { operationOf, parseJsonObject, readBody, sendJson, sendJsonError } from './json-protocol.ts';
import { dynamodbPermissions } from './permissions/dynamodb.ts';
import { sendProtocolError } from './protocol-error.ts';
import { type RequestTarget, readRequestTarget } from './request-target.ts';
import type { S3Service } from './s3/s3-service.ts';
import { sendXmlError } from './s3/xml.ts';
import type { SecretStore } from './secrets/secret-store.ts';
import { callSecretsManager, secretPermissions } from './secrets/secrets-manager.ts';
import type { StepFunctions } from './step-functions/step-functions.ts';

/** The services behind the one door. */
export interface Services {
  place: Place;
  counter: CallCounter;
  principals: ReadonlyMap<string, Principal>;
  dynamodb: DynamoDbClient;
  s3: S3Service;
  secrets: SecretStore;
  stepFunctions: StepFunctions;
}

interface Call {
  request: IncomingMessage;
  response: ServerResponse;
  target: RequestTarget;
  principal: Principal;
}

const answerDynamoDb = async (services: Services, { request, response, principal }: Call): Promise<void> => {
  const operation = operationOf(request);
  const body = await readBody(request);
  if (principal.statements) {
    const needed = dynamodbPermissions(services.place, operation, parseJsonObject(body));
    const refused = findRefusal(principal, needed);
    if (refused) throw new AwsError('AccessDeniedException', refused);
  }
  services.counter.add(principal.name, `dynamodb:${operation}`);
  await services.dynamodb.forward(operation, body, response);
};

const answerSecrets = async (services: Services, { request, response, principal }: Call): Promise<void> => {
  const operation = operationOf(request);
  const body = parseJsonObject(await readBody(request));
  const refused = findRefusal(
    principal,
    secretPermissions(services.place, services.secrets, operation, body),
  );
  if (refused) throw new AwsError('AccessDeniedException', refused);
  services.counter.add(principal.name, `secretsmanager:${operation}`);
  sendJson(response, 200, callSecretsManager(services.secrets, operation, body), '1.1');
};

const answerStepFunctions = async (
  { stepFunctions }: Services,
  { request, response, principal }: Call,
): Promise<void> => {
  const body = parseJsonObject(await readBody(request));
  sendJson(response, 200, stepFunctions.call(principal, operationOf(request), body), '1.0');
};

const answerS3 = (services: Services, { request, response, target, principal }: Call): Promise<void> =>
  services.s3.handle(request, response, {
    principal,
    target,
    count: (operation) => services.counter.add(principal.name, `s3:${operation}`),
  });

const answerBedrock = async (
  services: Services,
  { request, response, target, principal }: Call,
): Promise<void> => {
  const guardrail = guardrailOf(request.method ?? '', target.pathname);
  const refused = findRefusal(principal, guardrailPermissions(services.place, guardrail));
  if (refused) throw new AwsError('AccessDeniedException', refused, 403);
  const body = parseJsonObject(await readBody(request));
  services.counter.add(principal.name, 'bedrock:ApplyGuardrail');
  sendRestJson(response, applyGuardrail(body));
};

const ANSWERS: Record<string, (services: Services, call: Call) => Promise<void>> = {
  dynamodb: answerDynamoDb,
  s3: answerS3,
  secretsmanager: answerSecrets,
  states: answerStepFunctions,
  bedrock: answerBedrock,
};

/** The caller and the service of a request. Throws as AWS refuses a request that is not signed, or signed with an unknown key. */
const identify = (services: Services, request: IncomingMessage, target: RequestTarget) => {
  const scope = readCredentialScope(request, target);
  if (!scope) {
    throw new AwsError('MissingAuthenticationTokenException', 'Missing Authentication Token', 403);
  }
  const { service, accessKeyId } = scope;
  const principal = services.principals.get(accessKeyId);
  if (!principal) {
    const invalidToken = 'The security token included in the request is invalid.';
    if (service === 's3') {
      const message = 'The AWS Access Key Id you provided does not exist in our records.';
      throw new AwsError('InvalidAccessKeyId', message, 403);
    }
    const code = service in ANSWERS ? 'UnrecognizedClientException' : 'InvalidClientTokenId';
    throw new AwsError(code, invalidToken, 403);
  }
  return { service, principal };
};

/** Answers an error in the service's own shape. */
const sendError = (request: IncomingMessage, response: ServerResponse, service: string, thrown: unknown) => {
  if (!(thrown instanceof AwsError)) console.error(`[aws] ${service}:`, thrown);
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const error =
    thrown instanceof AwsError ? thrown : new AwsError('InternalServerError', messageOf(thrown), 500);
  if (service === 's3') sendXmlError(response, error);
  else if (service === 'secretsmanager') sendJsonError(response, error, '1.1');
  else if (service in ANSWERS && service !== 'bedrock') sendJsonError(response, error, '1.0');
  else sendProtocolError(request, response, error);
};

/** The request handler of the AWS endpoint: tells service and caller from the signature and hands over. Never throws. */
export const createRouter =
  (services: Services) =>
  async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const target = readRequestTarget(request.url ?? '/');
    let service = readCredentialScope(request, target)?.service ?? '';
    try {
      const caller = identify(services, request, target);
      service = caller.service;
      const answer = ANSWERS[service];
      if (!answer) {
        const message = `The local run has no service "${service}" (${request.method} ${target.pathname}${operationOf(request) && ` ${operationOf(request)}`})`;
        console.error(`[aws] ${caller.principal.name}: ${message}`);
        throw new AwsError('NotImplemented', message, 501);
      }
      await answer(services, { request, response, target, principal: caller.principal });
    } catch (error) {
      sendError(request, response, service, error);
    }
  };
