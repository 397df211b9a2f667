import type { Principal } from '../types.ts';
import { findRefusal } from './authorize.ts';
import { AwsError, messageOf } from './errors.ts';
import type { Aftermath } from './faults.ts';
import {
  errorAnswer,
  type JsonAnswer,
  type JsonVersion,
  jsonAnswer,
  parseJsonObject,
} from './json-protocol.ts';
import { callSecretsManager, secretPermissions } from './secrets/secrets-manager.ts';
import type { Services } from './services.ts';

/** A call of a service with a JSON protocol, by a known caller. */
export interface JsonCall {
  service: string;
  principal: Principal;
  operation: string;
  body: string;
}

/** An allowed call. */
interface AllowedCall {
  /** The request, for faults to look at. */
  text(): string;
  perform(): JsonAnswer | Promise<JsonAnswer>;
}

/** Checks a call's permissions. Throws `AwsError` where they do not suffice. */
type Allow = (services: Services, call: JsonCall) => AllowedCall;

const refuseUnlessAllowed = (...by: Parameters<typeof findRefusal>): void => {
  const refused = findRefusal(...by);
  if (refused) throw new AwsError('AccessDeniedException', refused);
};

const allowDynamoDb: Allow = (services, { principal, operation, body }) => {
  const { restores } = services;
  const permissions = () => services.dynamodbPermissions(operation, parseJsonObject(body));
  if (principal.statements) refuseUnlessAllowed(principal, permissions());
  restores.check(principal.name, permissions);
  return {
    text: () => body,
    perform: () => {
      services.checkStartKey(operation, body);
      return (
        restores.answer(operation, body) ?? restores.pass(() => services.dynamodb.forward(operation, body))
      );
    },
  };
};

const allowSecrets: Allow = ({ place, secrets }, { principal, operation, body }) => {
  const parsed = parseJsonObject(body);
  refuseUnlessAllowed(principal, secretPermissions(place, secrets, operation, parsed));
  return {
    text: () => JSON.stringify(parsed),
    perform: () => jsonAnswer(200, callSecretsManager(secrets, operation, parsed), '1.1'),
  };
};

const allowStepFunctions: Allow = ({ stepFunctions }, { principal, operation, body }) => {
  const parsed = parseJsonObject(body);
  const perform = stepFunctions.authorize(principal, operation, parsed);
  return { text: () => JSON.stringify(parsed), perform: () => jsonAnswer(200, perform(), '1.0') };
};

/** The services with a JSON protocol, by their names in signatures. */
export const JSON_SERVICES: Record<string, { allow: Allow; version: JsonVersion }> = {
  dynamodb: { allow: allowDynamoDb, version: '1.0' },
  secretsmanager: { allow: allowSecrets, version: '1.1' },
  states: { allow: allowStepFunctions, version: '1.0' },
};

/** The answer to a call of a JSON service that failed, which is logged unless it is one of AWS's errors. */
export const failedAnswer = (service: string, thrown: unknown): JsonAnswer => {
  if (!(thrown instanceof AwsError)) console.error(`[aws] ${service}:`, thrown);
  const error =
    thrown instanceof AwsError ? thrown : new AwsError('InternalServerError', messageOf(thrown), 500);
  return errorAnswer(error, JSON_SERVICES[service]?.version);
};

/** Checks, counts and makes a call of one of `JSON_SERVICES`, with the faults that apply to it. Never rejects. */
export const answerJsonCall = async (
  services: Services,
  call: JsonCall,
): Promise<{ answer: JsonAnswer; aftermath: Aftermath }> => {
  const { service, principal, operation } = call;
  let aftermath: Aftermath;
  try {
    const allow = JSON_SERVICES[service]?.allow;
    if (!allow) throw new AwsError('NotImplemented', `The local run has no service "${service}"`, 501);
    const { text, perform } = allow(services, call);
    const name = `${service}:${operation}`;
    services.counter.add(principal.name, name);
    aftermath = await services.faults.meet({ principalName: principal.name, name, text });
    return { aftermath, answer: await perform() };
  } catch (error) {
    return { aftermath, answer: failedAnswer(service, error) };
  }
};
