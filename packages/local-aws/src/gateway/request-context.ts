import { randomBytes, randomUUID } from 'node:crypto';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { ACCOUNT_ID } from '../template/attributes.ts';

type RequestContext = APIGatewayProxyEvent['requestContext'];

/** What is known of a request before it is routed. */
export interface RequestFacts {
  method: string;
  /** As the client sent it, without the query. */
  path: string;
  sourceIp: string;
  userAgent: string | undefined;
  domainName: string;
  now: Date;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Common log format in UTC, e.g. `21/Nov/2026:03:05:00 +0000`. */
const requestTime = (now: Date) => {
  const [date = '', time = ''] = now.toISOString().slice(0, 19).split('T');
  const [year, , day] = date.split('-');
  return `${day}/${MONTHS[now.getUTCMonth()]}/${year}:${time} +0000`;
};

/** The `requestContext` of a REST API's proxy event, with fresh request ids. `resourcePath` is set once the route is known. */
export const requestContextOf = (
  facts: RequestFacts,
  api: { apiId: string; stage: string },
): RequestContext => ({
  accountId: ACCOUNT_ID,
  apiId: api.apiId,
  authorizer: null,
  domainName: facts.domainName,
  domainPrefix: facts.domainName.split('.')[0] ?? '',
  extendedRequestId: randomBytes(11).toString('base64'),
  httpMethod: facts.method,
  identity: {
    accessKey: null,
    accountId: null,
    apiKey: null,
    apiKeyId: null,
    caller: null,
    clientCert: null,
    cognitoAuthenticationProvider: null,
    cognitoAuthenticationType: null,
    cognitoIdentityId: null,
    cognitoIdentityPoolId: null,
    principalOrgId: null,
    sourceIp: facts.sourceIp,
    user: null,
    userAgent: facts.userAgent ?? null,
    userArn: null,
  },
  path: facts.path,
  protocol: 'HTTP/1.1',
  requestId: randomUUID(),
  requestTime: requestTime(facts.now),
  requestTimeEpoch: facts.now.getTime(),
  resourceId: '',
  resourcePath: '',
  stage: api.stage,
});
