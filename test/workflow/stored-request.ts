import type { Context } from 'aws-lambda';
import { releasePermit } from '../../core/admission/admission.ts';
import { awaitCapacity } from '../../core/admission/await-capacity.ts';
import { dispatchRequest } from '../../core/dispatch/dispatch-request.ts';
import type { QueuePosition } from '../../core/executions/step-rules.ts';
import type { ProviderRouteOf } from '../../core/provider-calls/providers.ts';
import { listedState, type StoredOutput, type StoredRequest } from '../../core/requests/request-rules.ts';
import { insertRequestWrite, recordOutputs, toRequest } from '../../core/requests/requests.ts';
import {
  accountKey,
  endUserKey,
  ledgerPartition,
  pauseKey,
  providerAttemptKey,
  requestKey,
} from '../../core/table/keys.ts';
import { table } from '../../core/table/table.ts';
import { systemClock } from '../../core/time.ts';
import { awaitProvider } from '../../core/waiting/await-provider.ts';
import { queryProvider } from '../../core/waiting/query-provider.ts';
import { handler as failRequestHandler } from '../../functions/workflow/fail-request.ts';
import { handler as settleRequestHandler } from '../../functions/workflow/settle-request.ts';
import {
  ACCOUNT_ID,
  anAccount,
  anAttempt,
  anEndUser,
  anImageRequest,
  aStoredOutput,
  EMAIL,
  REQUEST_ID,
} from '../unit/builders/entities.ts';
import { MemoryBucket } from '../unit/fakes/memory-bucket.ts';
import { MemoryExecutions } from '../unit/fakes/memory-executions.ts';
import { MemorySecrets } from '../unit/fakes/memory-secrets.ts';
import { MemoryTable } from '../unit/fakes/memory-table.ts';
import '../unit/fakes/fresh-first-attempts.ts';
import { entryIn, tokenIn } from './generation.ts';
import type { Behaviour, Script } from './harness.ts';

const memory = new MemoryTable(table);
const bucket = new MemoryBucket();
const secrets = new MemorySecrets();
/** The executions started, and what is sent to waiting ones. */
export const executions = new MemoryExecutions();
const context = { functionName: 'task', awsRequestId: 'invocation' } as Context;

/** The deployed function of "Fail request", on the table in memory. */
export const failRequest: Behaviour = (payload) => failRequestHandler(payload, context);
/** The deployed function of "Settle request", on the table in memory. */
export const settleRequest: Behaviour = (payload) => settleRequestHandler(payload, context);

/** The real function of every task but storing, which gives the permit back, as it does first, and records these outputs. */
export const realFunctions = (
  providerRouteOf: ProviderRouteOf,
  requestId = REQUEST_ID,
  outputs: StoredOutput[] = [aStoredOutput(0)],
): Script => ({
  'dispatch-request': () => dispatchRequest(requestId, providerRouteOf),
  'await-capacity': (payload) => {
    const { position } = payload as { position: QueuePosition & { timeoutSeconds: number } };
    return awaitCapacity({ requestId, taskToken: tokenIn(payload), ...entryIn(payload) }, position);
  },
  'await-provider': (payload) =>
    awaitProvider({ requestId, taskToken: tokenIn(payload), ...entryIn(payload) }, providerRouteOf),
  'query-provider': () => queryProvider(requestId, providerRouteOf),
  'store-outputs': async () => {
    const request = storedRequest(requestId);
    const { route = '' } = request.assignment ?? {};
    await recordOutputs(requestId, outputs, await releasePermit(request, route, systemClock));
  },
  'settle-request': settleRequest,
  'fail-request': failRequest,
});

/** Empties the table and puts a request, its account after the debit, and its end-user. */
export const putRequest = (request: StoredRequest = anImageRequest()): void => {
  memory.reset();
  bucket.reset();
  executions.reset();
  secrets.reset();
  secrets.set('arn:callback-secret', 'secret');
  memory.put(accountKey(ACCOUNT_ID), anAccount());
  memory.put(endUserKey(ACCOUNT_ID, EMAIL), anEndUser());
  memory.put(requestKey(request.requestId), insertRequestWrite(request).Put?.Item ?? {});
  executions.put('generation', request.requestId, 'RUNNING');
};

/** The stored request. */
export const storedRequest = (requestId = REQUEST_ID): StoredRequest =>
  toRequest(memory.get(requestKey(requestId)) ?? {});

/** Puts another account's request beside it, with an unfinished task at the route of the queue's tests. */
export const putOther = (requestId: string, accountId: string): void => {
  memory.put(requestKey(requestId), anImageRequest({ requestId, accountId, status: 'processing' }));
  const route = { provider: 'modelstudio', upstreamModel: 'upstream-model' };
  const task = { taskId: 'task-9', outcome: { kind: 'accepted', taskId: 'task-9' } } as const;
  memory.put(providerAttemptKey(requestId, 0, 0), anAttempt({ requestId, ...route, ...task }));
};

/** The request's status, and the one that its index entries tell. */
export const statuses = (): unknown => {
  const request = storedRequest();
  return { stored: request.status, listed: listedState(request) };
};

/** Until when the end-user is paused with the request's model; undefined without a pause. */
export const pausedUntil = (requestId = REQUEST_ID): unknown =>
  memory.get(pauseKey({ accountId: ACCOUNT_ID, email: EMAIL, model: storedRequest(requestId).model }))?.until;

/** The end-user's number of unfinished requests. */
export const activeRequests = (): unknown => memory.get(endUserKey(ACCOUNT_ID, EMAIL))?.activeRequests;

/** The account's balance in thousandths. */
export const balanceThousandths = (): unknown => memory.get(accountKey(ACCOUNT_ID))?.balanceThousandths;

/** The amounts of the ledger entries written since `putRequest`. */
export const ledgerAmounts = (): unknown[] =>
  memory.partition(ledgerPartition(ACCOUNT_ID)).map((entry) => entry.amountThousandths);
