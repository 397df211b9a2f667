import '../unit/builders/environment.ts';
import type { Context } from 'aws-lambda';
import type { StoredRequest } from '../../core/requests/request-rules.ts';
import { insertRequestWrite, toRequest } from '../../core/requests/requests.ts';
import {
  accountKey,
  endUserKey,
  ledgerPartition,
  pauseKey,
  providerWaitKey,
  requestKey,
} from '../../core/table/keys.ts';
import { table } from '../../core/table/table.ts';
import { handler as failRequestHandler } from '../../functions/workflow/fail-request.ts';
import { handler as settleRequestHandler } from '../../functions/workflow/settle-request.ts';
import {
  ACCOUNT_ID,
  anAccount,
  anEndUser,
  anImageRequest,
  EMAIL,
  REQUEST_ID,
} from '../unit/builders/entities.ts';
import type { Item } from '../unit/fakes/expressions.ts';
import { MemoryExecutions } from '../unit/fakes/memory-executions.ts';
import { MemoryTable } from '../unit/fakes/memory-table.ts';
import { MemorySecrets } from '../unit/fakes/secrets.ts';
import type { Behaviour } from './harness.ts';

const memory = new MemoryTable(table);
const secrets = new MemorySecrets();
/** The executions that others start, and what is sent to those that wait. */
export const executions = new MemoryExecutions();
const context = { functionName: 'task', awsRequestId: 'invocation' } as Context;

/** The deployed function behind "Fail request", on the table in memory. */
export const failRequest: Behaviour = (payload) => failRequestHandler(payload, context);
/** The deployed function behind "Settle request", on the table in memory. */
export const settleRequest: Behaviour = (payload) => settleRequestHandler(payload, context);

/** Empties the table and puts a request there, with the account that paid for it and its end-user. */
export const putRequest = (request: StoredRequest = anImageRequest()): void => {
  memory.reset();
  executions.reset();
  secrets.reset();
  secrets.set('arn:callback-secret', 'secret');
  memory.put(accountKey(ACCOUNT_ID), anAccount());
  memory.put(endUserKey(ACCOUNT_ID, EMAIL), anEndUser());
  memory.put(requestKey(request.requestId), insertRequestWrite(request).Put?.Item ?? {});
};

/** The request as it is stored. */
export const storedRequest = (requestId = REQUEST_ID): StoredRequest =>
  toRequest(memory.get(requestKey(requestId)) ?? {});

/** Changes the request as another process might. */
export const changeRequest = (requestId: string, attributes: object): void =>
  memory.patch(requestKey(requestId), attributes);

/** How the request waits, as far as the table knows. */
export const storedWait = (requestId: string): Item | undefined => memory.get(providerWaitKey(requestId));

/** The partitions of the indexes that follow the request's status. */
export const statusPartitions = (): unknown => {
  const { GSI3PK, GSI5PK } = memory.get(requestKey(REQUEST_ID)) ?? {};
  return { GSI3PK, GSI5PK };
};

/** Until when the end-user is paused with the request's model; undefined when they are not. */
export const pausedUntil = (requestId = REQUEST_ID): unknown =>
  memory.get(pauseKey({ accountId: ACCOUNT_ID, email: EMAIL, model: storedRequest(requestId).model }))?.until;

/** How many requests of the end-user are queued or processing. */
export const activeRequests = (): unknown => memory.get(endUserKey(ACCOUNT_ID, EMAIL))?.activeRequests;

/** What stands on the account's balance, in thousandths. */
export const balanceThousandths = (): unknown => memory.get(accountKey(ACCOUNT_ID))?.balanceThousandths;

/** The amounts of the ledger entries written since `putRequest`. */
export const ledgerAmounts = (): unknown[] =>
  memory.partition(ledgerPartition(ACCOUNT_ID)).map((entry) => entry.amountThousandths);
