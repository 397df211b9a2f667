import type { APIGatewayProxyResult } from 'aws-lambda';
import type { Account } from '../../core/accounts/accounts.ts';
import type { Creation } from '../../core/creation/create-request.ts';
import { type CreationFacts, loadCreationFacts } from '../../core/creation/judge-creation.ts';
import type { NewRequest, ReceivedCreation, Submission } from '../../core/creation/submission.ts';
import { requiredEnv } from '../../core/environment.ts';
import { recordUrl, renderQueued } from '../../core/requests/render-record.ts';
import { type EndpointName, routeText } from '../../core/routes.ts';
import { apiHandler, json, READ_AGAIN } from './api-handler.ts';
import { type ApiRequest, wrongFields } from './api-request.ts';
import { authorizeKey, identifyCaller } from './authorize.ts';
import { retirementHeaders } from './retirement-headers.ts';

/** The handler of a route that creates requests of a kind. 202 with the queued record; 400, 401, 402, 403, 409, 422, 429, 503. */
export const creationRoute = <New extends NewRequest>(
  endpoint: EndpointName,
  parse: (received: ReceivedCreation) => Submission<New>,
  create: (account: Account, submission: Submission<New>, facts: CreationFacts) => Promise<Creation>,
) =>
  apiHandler(async (request) => {
    const caller = identifyCaller(request);
    const { account, apiKey } = await authorizeKey(caller, 'generations:write', request.now);
    const submission = parse(receiveCreation(request, endpoint, apiKey.keyId));
    const facts = await loadCreationFacts(account.accountId, submission);
    const created = await create(account, submission, facts);
    return creationResponse(created, retirementHeaders(facts.settings?.retirement));
  });

/** Reads a creation from an HTTP request. Throws no refusal: authorization comes before any. */
export const receiveCreation = (
  request: ApiRequest,
  endpoint: EndpointName,
  keyId: string,
): ReceivedCreation => ({
  route: routeText(endpoint),
  body: request.readBody(),
  idempotencyKey: request.header('Idempotency-Key'),
  keyId,
  fields: wrongFields(
    () => request.query({}),
    () => request.idempotencyKey(),
  ),
  now: request.now,
});

/** 202 with the queued record, the URL to read it at, whether the creation is a repetition, and these headers. */
const creationResponse = (
  { request, replayed }: Creation,
  headers: Record<string, string>,
): APIGatewayProxyResult => {
  const publicBaseUrl = requiredEnv('PUBLIC_BASE_URL');
  return json(202, renderQueued(request, publicBaseUrl), {
    Location: recordUrl(publicBaseUrl, request),
    ...READ_AGAIN,
    ...(replayed ? { 'Idempotency-Replayed': 'true' } : {}),
    ...headers,
  });
};
