import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Principal } from '../types.ts';
import { AwsError } from './errors.ts';
import type { Fault, Faults } from './faults.ts';
import { jsonAnswer, parseJsonObject, readText, sendJsonAnswer } from './json-protocol.ts';

/** Requests about faults are signed for this service. AWS has none of this name. */
export const FAULT_SERVICE = 'local-faults';

/**
 * Answers a request about faults: POST arms the fault in its body, DELETE removes all, GET returns how many calls each has left. Throws
 * `AccessDeniedException` for every caller but the operator.
 */
export const answerFaultControl = async (
  faults: Faults,
  principal: Principal,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  if (principal.statements) {
    throw new AwsError('AccessDeniedException', `${principal.name} may not arm faults`, 403);
  }
  const body = parseJsonObject(await readText(request));
  if (request.method === 'POST') faults.arm(body as unknown as Fault);
  else if (request.method === 'DELETE') faults.disarm();
  else if (request.method !== 'GET') throw new AwsError('NotImplemented', 'POST, DELETE or GET', 501);
  sendJsonAnswer(response, jsonAnswer(200, { left: faults.left() }, '1.0'));
};

/** The AWS endpoint of a run, and its operator. */
export interface FaultTarget {
  awsEndpointUrl: string;
  operatorAccessKeyId: string;
}

const send = async (target: FaultTarget, method: string, body?: Fault): Promise<number[]> => {
  const response = await fetch(target.awsEndpointUrl, {
    method,
    headers: {
      authorization: `AWS4-HMAC-SHA256 Credential=${target.operatorAccessKeyId}/20260101/us-east-1/${FAULT_SERVICE}/aws4_request`,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as { left: number[]; message?: string };
  if (!response.ok) throw new Error(`Faults: ${response.status} ${answer.message}`);
  return answer.left;
};

/** Arms a fault in a run in another process. Rejects an invalid fault, and every caller but the operator. */
export const armFault = async (target: FaultTarget, fault: Fault): Promise<void> => {
  await send(target, 'POST', fault);
};

/** Removes every fault of a run in another process. */
export const disarmFaults = async (target: FaultTarget): Promise<void> => {
  await send(target, 'DELETE');
};

/** How many calls each armed fault has left, in the order they were armed. */
export const faultsLeft = (target: FaultTarget): Promise<number[]> => send(target, 'GET');
