import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../types.ts';
import { findRefusal } from './authorize.ts';
import { applyGuardrail, guardrailOf, guardrailPermissions, sendRestJson } from './bedrock/guardrails.ts';
import { readCredentialScope } from './credential-scope.ts';
import { AwsError, messageOf } from './errors.ts';
import { answerFaultControl, FAULT_SERVICE } from './fault-control.ts';
import { applyAftermath } from './faults.ts';
import { isForAnotherHost, isForeign } from './foreign-requests.ts';
import { identify } from './identify.ts';
import { answerJsonCall, JSON_SERVICES } from './json-calls.ts';
import {
  errorAnswer,
  operationOf,
  parseJsonObject,
  readBody,
  readText,
  sendJsonAnswer,
} from './json-protocol.ts';
import { readsAccountSettings, SETTINGS_PERMISSIONS } from './lambda/account-settings.ts';
import {
  invocationPermissions,
  invokeAndWait,
  invokedBy,
  parsePayload,
  queueInvocation,
  sendInvocation,
  sendQueued,
} from './lambda/lambda.ts';
import { sendProtocolError } from './protocol-error.ts';
import { type RequestTarget, readRequestTarget } from './request-target.ts';
import { allowOrigin, isPreflight } from './s3/cors.ts';
import { isFormUpload, storeForm } from './s3/post-form.ts';
import { sendXmlError } from './s3/xml.ts';
import type { Services } from './services.ts';

interface Call {
  request: IncomingMessage;
  response: ServerResponse;
  target: RequestTarget;
  service: string;
  principal: Principal;
}

/** Counts an allowed call and applies faults to it. Throws `AwsError` where a fault refuses it. */
const admit = async (
  { counter, faults }: Services,
  { response, principal }: Call,
  name: string,
  text: () => string,
): Promise<void> => {
  counter.add(principal.name, name);
  applyAftermath(response, await faults.meet({ principalName: principal.name, name, text }));
};

const answerJson = async (services: Services, call: Call): Promise<void> => {
  const { request, response, service, principal } = call;
  const body = await readText(request);
  const answered = await answerJsonCall(services, {
    service,
    principal,
    operation: operationOf(request),
    body,
  });
  applyAftermath(response, answered.aftermath);
  sendJsonAnswer(response, answered.answer);
};

const answerS3 = (services: Services, call: Call): Promise<void> =>
  services.s3.handle(call.request, call.response, {
    principal: call.principal,
    target: call.target,
    admit: (operation) => admit(services, call, `s3:${operation}`, () => call.target.pathname),
  });

/** A form names its signer in a field, which is read with the form. */
const answerForm = (
  services: Services,
  request: IncomingMessage,
  response: ServerResponse,
  target: RequestTarget,
): Promise<void> =>
  storeForm(request, response, target, {
    store: services.s3.store,
    principals: services.principals,
    admit: (principal) =>
      admit(
        services,
        { request, response, target, service: 's3', principal },
        's3:PostObject',
        () => target.pathname,
      ),
  });

/** The bucket of a path. */
const bucketOf = ({ pathname }: RequestTarget): string => pathname.split('/')[1] ?? '';

/** Answers what S3 takes from web pages: a preflight, and a form, whose policy is signed. */
const answerPage = async (
  services: Services,
  request: IncomingMessage,
  response: ServerResponse,
  target: RequestTarget,
): Promise<void> => {
  const isAllowed = allowOrigin(services.cors[bucketOf(target)], request, response);
  if (!isPreflight(request)) return answerForm(services, request, response, target);
  if (!isAllowed)
    throw new AwsError('AccessForbidden', 'CORSResponse: This CORS request is not allowed.', 403);
  response.writeHead(200, { 'content-length': 0 }).end();
};

const answerBedrock = async (services: Services, call: Call): Promise<void> => {
  const { request, response, target, principal } = call;
  const guardrail = guardrailOf(request.method ?? '', target.pathname);
  const refused = findRefusal(principal, guardrailPermissions(services.place, guardrail));
  if (refused) throw new AwsError('AccessDeniedException', refused, 403);
  const body = parseJsonObject(await readText(request));
  await admit(services, call, 'bedrock:ApplyGuardrail', () => JSON.stringify(body));
  sendRestJson(response, applyGuardrail(body));
};

const answerSettings = async (services: Services, call: Call): Promise<void> => {
  const refused = findRefusal(call.principal, SETTINGS_PERMISSIONS);
  if (refused) throw new AwsError('AccessDeniedException', refused, 403);
  await admit(services, call, 'lambda:GetAccountSettings', () => '{}');
  sendRestJson(call.response, services.accountSettings);
};

const answerLambda = async (services: Services, call: Call): Promise<void> => {
  const { request, response, target, principal } = call;
  if (readsAccountSettings(request.method ?? '', target)) return answerSettings(services, call);
  const { arn, isAsynchronous } = invokedBy(services.place, request.method ?? '', target, request.headers);
  const refused = findRefusal(principal, invocationPermissions(arn));
  if (refused) throw new AwsError('AccessDeniedException', refused, 403);
  const payload = parsePayload(await readBody(request));
  await admit(services, call, 'lambda:Invoke', () => JSON.stringify({ FunctionName: arn, Payload: payload }));
  if (isAsynchronous) {
    queueInvocation(services.invokeLater, arn, payload);
    sendQueued(response);
  } else sendInvocation(response, await invokeAndWait(services.invoke, arn, payload));
};

const ANSWERS: Record<string, (services: Services, call: Call) => Promise<void>> = {
  dynamodb: answerJson,
  s3: answerS3,
  secretsmanager: answerJson,
  states: answerJson,
  bedrock: answerBedrock,
  lambda: answerLambda,
  [FAULT_SERVICE]: ({ faults }, { request, response, principal }) =>
    answerFaultControl(faults, principal, request, response),
};

/** Services whose protocol is REST with JSON: the error's name is a header. */
const REST_JSON = ['bedrock', 'lambda'];

const FOREIGN = 'Only programs of this machine may call the local AWS, and by its own address.';

/** Answers an error in the shape of the service. */
const sendError = (request: IncomingMessage, response: ServerResponse, service: string, thrown: unknown) => {
  if (!(thrown instanceof AwsError)) console.error(`[aws] ${service}:`, thrown);
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const error =
    thrown instanceof AwsError ? thrown : new AwsError('InternalServerError', messageOf(thrown), 500);
  if (service === 's3') sendXmlError(response, error);
  else if (Object.hasOwn(ANSWERS, service) && !REST_JSON.includes(service)) {
    sendJsonAnswer(response, errorAnswer(error, JSON_SERVICES[service]?.version));
  } else sendProtocolError(request, response, error);
};

/**
 * The request handler of the AWS endpoint: refuses web pages but for forms of S3, reads service and caller from the signature, then dispatches. Never throws.
 */
export const createAwsRouter =
  (services: Services) =>
  async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const target = readRequestTarget(request.url ?? '/');
    const scope = readCredentialScope(request, target);
    const isOfPages = !scope && (isFormUpload(request) || isPreflight(request));
    let service = scope?.service ?? (isOfPages ? 's3' : '');
    try {
      if (isOfPages ? isForAnotherHost(request) : isForeign(request))
        throw new AwsError('AccessDeniedException', FOREIGN, 403);
      if (isOfPages) {
        await answerPage(services, request, response, target);
        return;
      }
      const caller = identify(scope, services.principals, (name) => Object.hasOwn(ANSWERS, name));
      service = caller.service;
      const answer = Object.hasOwn(ANSWERS, service) ? ANSWERS[service] : undefined;
      if (!answer) {
        const message = `The local run has no service "${service}" (${request.method} ${target.pathname}${operationOf(request) && ` ${operationOf(request)}`})`;
        console.error(`[aws] ${caller.principal.name}: ${message}`);
        throw new AwsError('NotImplemented', message, 501);
      }
      await answer(services, { request, response, target, service, principal: caller.principal });
    } catch (error) {
      sendError(request, response, service, error);
    }
  };
