import { credentialScopeOf } from './credential-scope.ts';
import { killProcess } from './faults.ts';
import { identify } from './identify.ts';
import { answerJsonCall, failedAnswer, JSON_SERVICES } from './json-calls.ts';
import { checkSize, operationIn } from './json-protocol.ts';
import type { Services } from './services.ts';

/** A call of a JSON service from within this process, as a client would send it: two headers and the body. */
export interface DirectCall {
  /** `X-Amz-Target` */
  target: string;
  authorization: string;
  body: string;
}

/** The answer to a direct call. `lost`: the connection would have broken before it. */
export type DirectAnswer = { status: number; headers: Record<string, string>; body: string } | 'lost';

/** Answers a call as the endpoint answers it over HTTP. Never rejects. */
export type CallDirectly = (call: DirectCall) => Promise<DirectAnswer>;

/** Direct calls of the services. */
export const createDirectCalls =
  (services: Services): CallDirectly =>
  async ({ target, authorization, body }) => {
    const scope = credentialScopeOf(authorization);
    try {
      const { service, principal } = identify(scope, services.principals, (name) => name in JSON_SERVICES);
      checkSize(Buffer.byteLength(body));
      const call = { service, principal, operation: operationIn(target), body };
      const { answer, aftermath } = await answerJsonCall(services, call);
      if (aftermath === 'kill') killProcess();
      return aftermath === undefined ? answer : 'lost';
    } catch (error) {
      return failedAnswer(scope?.service ?? '', error);
    }
  };
